#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Random histories of VRF devices and of services that name them, against a model.

usage: vrf_names.py STEPS [SEED]

Runs in an empty network namespace of its own. Devices are made, deleted and
renamed, their names and indices used again; services are added, set, deleted and
applied from files. After each step every port is sent a packet in each place, in
a VRF or outside: it must be the service of that port and of the VRF's name, and no
other, that counts it.
"""

import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

NAMES = ("red", "blue", "green")
INDICES = (1001, 1002, 1003)
PLACES = 3              # pairs of veth, each outside or in one VRF
PORTS = (53, 54)
SERVICES = ("a", "b", "c", "d", "e")
VIP = "192.0.2.80"
SLOW = int(os.environ.get("CHS_SLOW", "1"))


class Wrong(Exception):
    pass


def run(*words, stdin=None):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def must(*words, stdin=None):
    status, out, err = run(*words, stdin=stdin)
    if status:
        raise Wrong("%s: status %d: %s" % (" ".join(words), status, err.strip()))
    return out


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def datagram(port):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0,
                       socket.inet_aton("192.0.2.10"), socket.inet_aton(VIP))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return head + struct.pack("!HHHH", 4000, port, 8, 0)


class Model:
    def __init__(self, rand):
        self.rand = rand
        self.devices = {}       # name -> index
        self.places = {}        # place -> name of its VRF, while it is in one
        self.services = {}      # name -> (VRF's name or None, port)
        self.socks = []
        for place in range(PLACES):
            must("ip", "-b", "-", stdin="""
                link add v%d type veth peer name w%d
                link set v%d up
                link set w%d up""" % ((place,) * 4))
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            sock.bind(("v%d" % place, 0))
            mac = open("/sys/class/net/w%d/address" % place).read().strip() \
                if os.path.exists("/sys/class/net/w%d" % place) else \
                json.loads(must("ip", "-j", "link", "show", "w%d" % place))[0]["address"]
            head = bytes.fromhex(mac.replace(":", "")) + b"\x02\0\0\0\0\1\x08\0"
            self.socks.append((sock, head))

    # What is done

    def device_add(self):
        names = [n for n in NAMES if n not in self.devices]
        indices = [i for i in INDICES if i not in self.devices.values()]
        if not names or not indices:
            return None
        name, index = self.rand.choice(names), self.rand.choice(indices)
        free = [p for p in range(PLACES - 1) if p not in self.places]
        place = self.rand.choice(free) if free else None
        must("ip", "-b", "-", stdin="link add %s index %d type vrf table %d\n" %
             (name, index, 9000 + index) +
             ("link set w%d master %s\n" % (place, name) if free else ""))
        self.devices[name] = index
        if free:
            self.places[place] = name
        return "link add %s index %d, with %s" % (name, index, place)

    def device_del(self):
        if not self.devices:
            return None
        name = self.rand.choice(sorted(self.devices))
        must("ip", "link", "del", name)
        del self.devices[name]
        self.places = {p: n for p, n in self.places.items() if n != name}
        return "link del " + name

    def device_rename(self):
        names = [n for n in NAMES + ("other",) if n not in self.devices]
        if not self.devices or not names:
            return None
        old, new = self.rand.choice(sorted(self.devices)), self.rand.choice(names)
        must("ip", "link", "set", old, "name", new)
        self.devices[new] = self.devices.pop(old)
        self.places = {p: new if n == old else n for p, n in self.places.items()}
        return "rename %s %s" % (old, new)

    def device_again(self):
        """One goes, and another comes with its index."""
        if not self.devices:
            return None
        old = self.rand.choice(sorted(self.devices))
        new = self.rand.choice([n for n in NAMES if n == old or n not in self.devices])
        index = self.devices.pop(old)
        moved = [p for p, n in self.places.items() if n == old]
        must("ip", "-b", "-", stdin="link del %s\nlink add %s index %d type vrf table 77\n" %
             (old, new, index) +
             "".join("link set w%d master %s\n" % (p, new) for p in moved))
        self.devices[new] = index
        for place in moved:
            self.places[place] = new
        return "index %d: %s, then %s" % (index, old, new)

    def drawn(self):
        return (self.rand.choice(NAMES + (None,)), self.rand.choice(PORTS))

    def add_words(self, name, key):
        vrf, port = key
        return ["service", "add", name, "udp", "%s:%d" % (VIP, port), "mode", "route",
                "on-empty", "drop"] + (["vrf", vrf] if vrf else [])

    def service_add(self):
        name, key = self.rand.choice(SERVICES), self.drawn()
        fits = name not in self.services and key not in self.services.values()
        words = self.add_words(name, key)
        status, _, err = run("chctl", *words)
        if fits:
            if status:
                raise Wrong("%s: %s" % (words, err))
            self.services[name] = key
        elif status != 2 or "EEXIST" not in err:
            raise Wrong("%s: status %d, %s" % (words, status, err))
        return " ".join(words)

    def service_del(self):
        if not self.services:
            return None
        name = self.rand.choice(sorted(self.services))
        must("chctl", "service", "del", name)
        del self.services[name]
        return "service del " + name

    def service_set(self):
        if not self.services:
            return None
        name = self.rand.choice(sorted(self.services))
        must("chctl", "service", "set", name, "window",
             str(self.rand.randrange(1, 900)))
        return "service set " + name

    def apply(self):
        wanted = {}
        for name in SERVICES:
            key = self.drawn()
            if self.rand.random() < 0.7 and key not in wanted.values():
                wanted[name] = key
        must("chctl", "apply", "--replace", "--allow-empty", "-",
             stdin="".join(" ".join(self.add_words(n, k)) + "\n"
                           for n, k in wanted.items()))
        self.services = wanted
        return "apply %s" % wanted

    # What must be

    def dropped(self):
        return {s["service"]: s["drops"]["no_backend"]
                for s in json.loads(must("chctl", "-j", "stats"))}

    def check_shown(self):
        shown = {s["name"]: (s["vrf"], s["port"])
                 for s in json.loads(must("chctl", "-j", "service", "show"))}
        if shown != self.services:
            raise Wrong("shown %s, expected %s" % (shown, self.services))
        for s in json.loads(must("chctl", "-j", "service", "show")):
            want = s["vrf"] in self.devices if s["vrf"] else None
            if s["vrf_present"] is not want:
                raise Wrong("%s: vrf_present %s, expected %s" %
                            (s["name"], s["vrf_present"], want))

    def check_packets(self):
        owner = {key: name for name, key in self.services.items()}
        want = self.dropped()
        for place, (sock, head) in enumerate(self.socks):
            for port in PORTS:
                sock.send(head + datagram(port))
                name = owner.get((self.places.get(place), port))
                if name:
                    want[name] += 1
        end = time.monotonic() + 5 * SLOW
        while True:
            got = self.dropped()
            if got == want:
                return
            if time.monotonic() > end:
                raise Wrong("counted %s, expected %s" % (got, want))

    def check_lookup(self):
        vrf, port = self.drawn()
        words = ["lookup", "udp", "192.0.2.10:4000", "%s:%d" % (VIP, port)] + \
            (["vrf", vrf] if vrf else [])
        status, out, err = run("chctl", "-j", *words)
        owner = {key: name for name, key in self.services.items()}.get((vrf, port))
        if vrf and vrf not in self.devices:
            if status != 2 or "ENODEV" not in err:
                raise Wrong("%s: status %d, %s" % (words, status, err))
        elif not owner:
            if status != 2 or "ENOENT" not in err:
                raise Wrong("%s: status %d, %s" % (words, status, err))
        elif status or json.loads(out)["service"] != owner:
            raise Wrong("%s: status %d, %s%s, expected %s" % (words, status, out, err, owner))

    def check(self):
        self.check_shown()
        self.check_packets()
        self.check_lookup()


def swapped(model):
    """Two services whose devices come to have one name after the other."""
    must("ip", "-b", "-", stdin="link add red type vrf table 10\n"
                                "link add blue type vrf table 11\n")
    for name, vrf in (("a", "red"), ("b", "blue")):
        must("chctl", *model.add_words(name, (vrf, 53)))
    must("ip", "-b", "-", stdin="link del red\nlink set blue name red\n")
    model.services = {"a": ("red", 53), "b": ("blue", 53)}
    model.devices = {"red": 0}
    model.check()
    must("chctl", "service", "set", "b", "on-empty", "pass")
    must("chctl", "service", "del", "b")
    del model.services["b"]
    model.check()
    must("chctl", "flush")
    must("ip", "link", "del", "red")
    model.services, model.devices = {}, {}


def main():
    steps = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print("seed", seed)
    model = Model(random.Random(seed))
    kinds = [model.device_add] * 3 + [model.device_del, model.device_rename,
             model.device_again, model.service_add, model.service_add,
             model.service_del, model.service_set, model.apply]
    step = "swapped"
    try:
        swapped(model)
        for number in range(steps):
            step = model.rand.choice(kinds)()
            if step:
                print(number, step)
                model.check()
    except Wrong as wrong:
        sys.exit("after %s: %s" % (step, wrong))


if __name__ == "__main__":
    main()
