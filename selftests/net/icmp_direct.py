#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""ICMP errors about packets from the service address, for icmp_direct.sh.

icmp_direct.py known FAMILY TABLE
        about the flows in the table of conns.py, on their way to the backend
        that has the flow
icmp_direct.py unknown FAMILY DIRECTOR SERVICE PORT
        about flows that nobody knows, on their way to where lookup says
icmp_direct.py outer FAMILY MODE SERVICE PORT
        about the outer packet of a flow: which are obeyed and told to the client,
        and how the others are counted, although the host has a tunnel device that
        would obey them
icmp_direct.py host FAMILY DIRECTOR SERVICE
        what is not about a flow of the service, or does not say which: goes to
        nobody
"""

import struct

import frames as f
from frames import Port, expect, fail, true

ROUTER = {4: "192.0.2.200", 6: "2001:db8:a::200"}   # who tells of the error
PROTO = {"tcp": f.TCP, "udp": f.UDP, "sctp": f.SCTP}
MTU = 1400


def kinds(family):
    """(TYPE, CODE, the word that follows the checksum)"""
    if family == 4:
        return [(3, 4, MTU), (11, 0, 0), (3, 1, 0), (3, 3, 0), (12, 0, 0)]
    return [(2, 0, MTU), (3, 0, 0), (1, 3, 0), (1, 4, 0), (4, 1, 6)]


class Error:
    def __init__(self, family, sport, kind, proto="udp", port=53, dst=None, quote=8,
                 cut=None, options=b"", off=0):
        src, dst = f.VIP[family], dst or f.CL[family]
        transport = struct.pack("!HHHH", port, sport, 1000, 0) + bytes(1000)
        if family == 4:
            head = f.ipv4(src, dst, PROTO[proto], transport, ttl=60, ident=sport,
                          df=not off, off=off, options=options)
        elif options:
            head = f.ipv6(src, dst, f.DSTOPTS, options + transport, ttl=60)
        elif off:
            head = f.ipv6(src, dst, f.FRAGMENT, f.fragment_header(
                PROTO[proto], sport, off, 0) + transport, ttl=60)
        else:
            head = f.ipv6(src, dst, PROTO[proto], transport, ttl=60)
        quote = head[:len(head) - len(transport) + quote][:cut]
        message = struct.pack("!BBHI", kind[0], kind[1], 0, kind[2]) + quote
        if family == 4:
            self.message = message[:2] + struct.pack("!H", f.checksum(message)) + message[4:]
            self.packet = f.ipv4(ROUTER[4], src, f.ICMP, self.message)
        else:
            self.message = f.transport_sum(ROUTER[6], src, f.ICMPV6, message, 2)
            self.packet = f.ipv6(ROUTER[6], src, f.ICMPV6, self.message)

    def match(self, frame):
        packet = frame.ip.inner() or frame.ip
        return packet.data == self.message


class World:
    def __init__(self):
        self.cl, self.mac = Port("cl", "c0"), f.mac_of("er", "r0")
        self.backends = [Port(f"b{i}", "e0") for i in range(1, 5)]

    def send(self, error):
        self.cl.send_ip(self.mac, error.packet)

    def arrives(self, what, error, owner):
        self.send(error)
        port, _ = f.catch_any(self.backends, error.match)
        expect(f"{what} gets to", port and port.name, owner)

    def none(self, what, errors, marker, owner):
        """None of ERRORS gets to a backend; MARKER does."""
        for error in errors:
            self.send(error)
        self.send(marker)
        found = []
        port, _ = f.catch_any(self.backends, lambda frame: marker.match(frame) or any(
            error.match(frame) for error in errors) and found.append(frame))
        expect("the marker gets to", port and port.name, owner)
        for frame in found:
            fail(f"{what} gets to a backend: {frame.ip}")


def known(family, table):
    world, family = World(), int(family)
    with open(table, encoding="ascii") as lines:
        rows = [line.split() for line in lines]
    flows = [(row[0], int(row[2]), int(row[4]), row[5]) for row in rows
             if (":" in row[3]) == (family == 6)]
    true("there are flows", flows)
    for i, (proto, sport, port, owner) in enumerate(flows):
        for kind in kinds(family):
            # As little as there must be, and more.
            for quote in (8,) if i % 2 else (8, 20, 500):
                error = Error(family, sport, kind, proto, port, quote=quote)
                world.arrives(f"type {kind[0]} code {kind[1]} with {quote} bytes",
                              error, owner)
    proto, sport, port, owner = flows[0]
    options = b"\1\1\1\0" if family == 4 else f.destination_options(PROTO[proto])
    world.arrives("one that quotes options",
                  Error(family, sport, kinds(family)[1], proto, port, options=options),
                  owner)


def unknown(family, director, service, port):
    world, family = World(), int(family)
    sports = range(61000, 61012)
    flows = [("udp", f.CL[family], sport, f.VIP[family], int(port)) for sport in sports]
    answers = f.lookup(director, flows, established=True)
    before = f.stats(director, service)
    true("to several", len({answer["address"] for answer in answers}) > 1)
    for sport, answer in zip(sports, answers):
        for kind in kinds(family)[:3]:
            world.arrives(f"type {kind[0]} about port {sport}",
                          Error(family, sport, kind, port=int(port)),
                          f"b{f.backend_of(answer['address'])}")
    after = f.stats(director, service)
    for key in "new_flows", "tracked_flows":
        expect(key, after[key], before[key])


def host(family, director, service):
    world, family = World(), int(family)
    before = f.stats(director, service)
    kind, sport = kinds(family)[1], 62000
    answer, = f.lookup(director, [("udp", f.CL[family], sport, f.VIP[family], 53)],
                       established=True)
    head = 20 if family == 4 else 40
    errors = [
        Error(family, sport, kind, port=9),                 # no service's
        Error(family, sport, kind, "sctp"),                 # no service's
        Error(family, sport, kind, quote=3),                # half of the ports
        Error(family, sport, kind, quote=0),
        Error(family, sport, kind, cut=head - 1),           # half of a header
        Error(family, sport, kind, cut=1),
        Error(family, sport, kind, cut=0),
        Error(family, sport, kind, off=1480),               # no ports in there
    ]
    world.none("what tells of no flow", errors, Error(family, sport, kind),
               f"b{f.backend_of(answer['address'])}")
    after = f.stats(director, service)
    for key in "new_flows", "tracked_flows":
        expect(key, after[key], before[key])


OWN = {4: "198.51.100.1", 6: "2001:db8:b::1"}       # lb's, of outer packets
TOLD, FORGED = 1400, 1390       # what is forged would be seen to win
SIZES = {4: 20, 6: 40}
STRANGER = {4: "192.0.2.99", 6: "2001:db8:a::99"}


def told(family, to, quote, mtu, good=True):
    """A router's error that a packet was too big, sent to TO."""
    if family == 4:
        message = struct.pack("!BBHI", 3, 4, 0, mtu) + quote
        value = f.checksum(message) ^ (not good)
        message = message[:2] + struct.pack("!H", value) + message[4:]
        return f.ipv4(ROUTER[4], to, f.ICMP, message)
    message = f.transport_sum(ROUTER[6], to, f.ICMPV6,
                              struct.pack("!BBHI", 2, 0, 0, mtu) + quote, 2)
    if not good:
        message = message[:2] + bytes([message[2] ^ 1]) + message[3:]
    return f.ipv6(ROUTER[6], to, f.ICMPV6, message)


def patched(quote, at, new):
    return quote[:at] + new + quote[at + len(new):]


def in_fragments(packet, first):
    """An error in two, of which the first has so many bytes, the header at least."""
    if packet[0] >> 4 == 4:
        src, dst, data = f.text(packet[12:16]), f.text(packet[16:20]), packet[20:]
        return [f.ipv4(src, dst, f.ICMP, data[:first], ident=0x1313, mf=True),
                f.ipv4(src, dst, f.ICMP, data[first:], ident=0x1313, off=first)]
    src, dst, data = f.text(packet[8:24]), f.text(packet[24:40]), packet[40:]
    return [f.ipv6(src, dst, f.FRAGMENT, f.fragment_header(f.ICMPV6, 0x1313, off, more) + part)
            for off, more, part in ((0, 1, data[:first]), (first, 0, data[first:]))]


def forged(family, mode, quote, other):
    """(REASON, PACKETS) of each condition."""
    own, src, dst = OWN[family], 12 if family == 4 else 8, 16 if family == 4 else 24
    size, stranger = SIZES[family], STRANGER[family]
    second = {4: "10.0.1.2", 6: "2001:db8:1::2"}[family]       # lb's, too
    low, link = {4: 67, 6: 1279}[family], 1500

    def to_own(quote, mtu=FORGED):
        return [told(family, own, quote, mtu)]

    yield "bad_checksum", [told(family, own, quote, FORGED, good=False)]
    yield "not_local", [told(family, stranger, quote, FORGED)]
    for address in stranger, second:
        yield "bad_source", to_own(patched(quote, src, f.packed(address)))
    yield "bad_source", [told(family, second, quote, FORGED)]
    for address in other, stranger:
        yield "wrong_backend", to_own(patched(quote, dst, f.packed(address)))
    for mtu in low, 0:
        yield "too_low", to_own(quote, mtu)
    yield "not_lower", to_own(quote, link)
    if mode == "gue":
        sport, dport = struct.unpack("!HH", quote[size:size + 4])
        yield "wrong_port", to_own(patched(quote, size, struct.pack("!H", sport ^ 1)))
        yield "wrong_port", to_own(patched(quote, size + 2, struct.pack("!H", dport ^ 1)))
    # Eight bytes, as RFC 792 has it, and half of a flow.
    inner = size + 8 * (mode == "gue")
    for length in 8, inner + 20 - size, inner + SIZES[family] + 7 - size:
        yield "no_flow", to_own(quote[:size + length])
    # No service's flow; with a header that the module does not send; a fragment.
    yield "no_flow", to_own(quote[:inner] + bytes([0x40 | quote[inner] & 15]) + bytes(99))
    if family == 4:
        yield "no_flow", to_own(b"\x46" + quote[1:20] + b"\1\1\1\0" + quote[20:])
        yield "no_flow", to_own(patched(quote, 6, struct.pack("!H", 185)))
    else:
        yield "no_flow", to_own(patched(quote, 6, bytes([f.DSTOPTS]))[:40] +
                                f.destination_options(quote[6]) + quote[40:])
    for first in 8, 8 + len(quote) // 16 * 8:
        yield "no_flow", in_fragments(told(family, own, quote, FORGED), first)


def path_mtu(address):
    words = f.subprocess.run(["ip", "-n", f.NETNS["lb"], "route", "get", address],
                             text=True, stdout=f.subprocess.PIPE, check=True).stdout.split()
    words = [word for word in words if word != "lock"]
    return int(words[words.index("mtu") + 1]) if "mtu" in words else None


def ignored():
    """Of all services: one that tells of no flow is counted for any of them."""
    total = {}
    for service in f.json.loads(f.ctl("lb", "-j", "stats")):
        for key, count in (service.get("icmp_ignored") or {}).items():
            total[key] = total.get(key, 0) + (count or 0)
    return total


def outer(family, mode, service, port):
    world, family, port = World(), int(family), int(port)
    router, mac = Port("er", "r3"), f.mac_of("lb", "l1")
    src, vip, sport = f.CL[family], f.VIP[family], 63000
    data = f.udp(src, vip, sport, port, bytes(1380))
    world.cl.send_ip(world.mac, f.ip(src, vip, f.UDP, data,
                                     **({"df": True} if family == 4 else {})))
    at, frame = f.catch_any(world.backends, lambda frame: frame.ip.inner() and
                            frame.ip.inner().ports() == (sport, port))
    if not true("the flow gets to a backend", frame):
        return
    backend = frame.ip.dst
    expect("from", frame.ip.src, OWN[family])
    expect("its MTU before", path_mtu(backend), None)
    other = f.backend(family, int(at.name[1:]) % 3 + 1)
    quote = frame.ip.whole[:500]
    before, obeyed = ignored(), f.stats("lb", service).get("icmp_obeyed", 0)
    counts = dict.fromkeys(before, 0)
    world.cl.drain()
    for reason, packets in forged(family, mode, quote, other):
        counts[reason] = counts.get(reason, 0) + 1
        for packet in packets:
            router.send_ip(mac, packet)
        for address in backend, other, STRANGER[family]:
            expect(f"{reason} {counts[reason]}: MTU of {address}", path_mtu(address), None)
    # A right one comes last, and no other has been told to the client till then.
    router.send_ip(mac, told(family, OWN[family], quote, TOLD))
    size = SIZES[family] + (8 if mode == "gue" else 0)
    kind = (f.ICMP, 3, 4) if family == 4 else (f.ICMPV6, 2, 0)
    reply = world.cl.catch(lambda frame: (frame.ip.proto, *frame.ip.data[:2]) == kind)
    if true("the client is told", reply):
        expect("MTU", struct.unpack("!I", reply.ip.data[4:8])[0], TOLD - size)
        expect("quoted", f.Ip(reply.ip.data[8:]).ports(), (sport, port))
    expect("its MTU", path_mtu(backend), TOLD)
    expect("obeyed", f.stats("lb", service).get("icmp_obeyed", 0) - obeyed, 1)
    after = ignored()
    for reason, count in counts.items():
        expect(reason, after.get(reason, 0) - before.get(reason, 0), count)


if __name__ == "__main__":
    f.main({"known": known, "unknown": unknown, "host": host, "outer": outer})
