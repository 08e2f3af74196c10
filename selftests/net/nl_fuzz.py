#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Malformed requests of every command.

usage: nl_fuzz.py attributes|headers|random [SEED]

A whole request of each command is sent with one attribute after the other left
out, empty, too short, too long, nested where it is not, not nested where it is,
twice, of an unknown type, of an impossible length; then random bytes. What is
refused must be refused by a sensible error and change nothing; what is granted
is put right again. Every request is answered in time.
"""

import os
import random
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import genl  # noqa: E402
from genl import C, Genl, arc, backend, flags, flow, nla, service  # noqa: E402

SENSIBLE = {"0", "EINVAL", "ERANGE", "ENOENT", "EEXIST", "EOPNOTSUPP", "ENOSPC",
            "EBUSY", "EMSGSIZE"}
# Without a sentence only what never came to a handler.
SILENT = {"0", "EOPNOTSUPP"}
LONGEST = 10            # seconds that an answer may take

# Whole requests; each of them is granted.
WHOLE = {
    "service-new": [flags(0), service(
        "new", ep=("203.0.113.9", 1000), port_end=1009, mode=0, hash=0,
        points=16, unit=100, slots=256, balance=0, seed=bytes(16), on_empty=0,
        masquerade=0)],
    "service-set": [service("web", on_empty=1, masquerade=1, balance=0)],
    "service-del": [flags("if_exists"), service("old")],
    "service-get": [service("web")],
    "backend-new": [flags("replace"), service("web"),
                    backend("198.51.100.21", 81, weight=3, state=1, zone="z",
                            deadline=600000, delete=True),
                    backend("198.51.100.22")],
    "backend-set": [service("web"),
                    backend("198.51.100.11", 80, weight=3, state=1, zone="z",
                            deadline=600000, delete=True)],
    "backend-del": [flags("if_exists"), service("web"),
                    backend("198.51.100.12", 80)],
    "backend-get": [service("web"), backend("198.51.100.11", 80)],
    "ring-get": [service("web"), arc(3)],
    "lookup": [flags("established"),
               flow(proto=6, saddr="192.0.2.10", daddr="203.0.113.1",
                    sport=40000, dport=80)],
    "txn-begin": [flags(0)],
    "txn-commit": [genl.txn(1), flags("prune")],
    "txn-abort": [genl.txn(1)],
    "flush": [genl.txn(1)],
    "info-get": [flags(0)],
}


def configure(nl):
    for cmd, *attrs in (
            ("flush",),
            ("service-new", service("web", ep=("203.0.113.1", 80), slots=256,
                                    points=16)),
            ("service-new", service("old", ep=("203.0.113.2", 80), slots=256,
                                    points=16)),
            ("backend-new", service("web"), backend("198.51.100.11"),
             backend("198.51.100.12"))):
        reply = nl.request(cmd, *attrs)
        if reply.errno:
            sys.exit("%s: %s: %s" % (cmd, reply.code, reply.text))


def split(data):
    """The attributes of a nest or a request, each with its header."""
    found = list(genl.attributes(data))
    return [data[at:at + ((4 + len(payload) + 3) & ~3)]
            for _, payload, at in found]


def mangle(attr):
    """Whatever can be wrong with one attribute."""
    length, kind = struct.unpack_from("=HH", attr)
    plain, payload = kind & genl.NLA_TYPE, attr[4:length]
    is_nest = bool(kind & genl.NLA_F_NESTED)
    yield "without it", b""
    yield "empty", nla(plain, b"", is_nest)
    yield "header alone", nla(plain, b"", is_nest, length=length)
    yield "twice", attr + attr
    yield "one byte", nla(plain, payload[:1] or b"\1", is_nest)
    for size in (len(payload) - 1, len(payload) + 1, 3, 33, 256, 65000):
        if 0 < size != len(payload):
            fill = (payload or b"a") * (size // max(len(payload), 1) + 1)
            yield "%u bytes" % size, nla(plain, fill[:size], is_nest)
    yield "all ones", nla(plain, b"\xff" * len(payload), is_nest)
    yield "all zeros", nla(plain, b"\0" * len(payload), is_nest)
    yield "nesting turned round", nla(plain, payload, not is_nest)
    yield "nest of itself", nla(plain, attr * 3, True)
    yield "deep nest", nla(plain, nest_of(plain, 60), True)
    for other in (0, 24, 100, 0x3FFF):
        yield "type %u" % other, nla(other, payload, is_nest)
    for said in (0, 1, 3, 4, length + 1, length + 64, 0x7FFF, 0xFFFF):
        yield "length %u said" % said, nla(plain, payload, is_nest, length=said)


def nest_of(kind, depth):
    data = b""
    for _ in range(depth):
        data = nla(kind, data, True)
    return data


def mangled(attrs):
    """A request's attributes, one at a time mangled, within nests too."""
    for i, attr in enumerate(attrs):
        before, after = b"".join(attrs[:i]), b"".join(attrs[i + 1:])
        for what, bad in mangle(attr):
            yield what, before + bad + after
        length, kind = struct.unpack_from("=HH", attr)
        if not kind & genl.NLA_F_NESTED:
            continue
        for what, inner in mangled(split(attr[4:length])):
            if len(inner) < 65000:
                yield "inside: " + what, before + nla(
                    kind & genl.NLA_TYPE, inner, True) + after


class Fuzz:
    def __init__(self):
        self.nl = Genl()
        configure(self.nl)
        self.before = self.nl.snapshot()
        self.count, self.bad, self.codes = 0, 0, {}

    def complain(self, what, reply, why):
        self.bad += 1
        print("%s: %s %r: %s\n  %s" % (what, reply.code, reply.text, why,
                                       self.nl.sent[:200].hex()))

    def check(self, what, reply, took, change):
        self.count += 1
        self.codes[reply.code] = self.codes.get(reply.code, 0) + 1
        if reply.code not in SENSIBLE:
            self.complain(what, reply, "not a sensible error")
        if reply.code not in SILENT and not reply.text:
            self.complain(what, reply, "no sentence")
        if took > LONGEST:
            self.complain(what, reply, "took %u s" % took)
        # Which of a few refused ones it was, a closer look will tell.
        if reply.errno and (not change or self.count % 16):
            return
        now = self.nl.snapshot()
        if genl.same(now, self.before):
            return
        if reply.errno or not change:
            self.complain(what, reply, "it has changed something")
        configure(self.nl)
        self.before = self.nl.snapshot()

    def send(self, what, message, change=True):
        start = time.monotonic()
        self.nl.send(message)
        reply = self.nl.answer()
        self.check(what, reply, time.monotonic() - start, change)

    def commands(self, names):
        for cmd, attrs in WHOLE.items():
            if names and cmd not in names:
                continue
            change = C["CMD_" + cmd.upper().replace("-", "_")] not in (
                C["CMD_SERVICE_GET"], C["CMD_BACKEND_GET"], C["CMD_RING_GET"],
                C["CMD_LOOKUP"], C["CMD_INFO_GET"])
            self.send(cmd, self.nl.message(cmd, b"".join(attrs)), change)
            for what, data in mangled(attrs):
                if len(data) > 200000:
                    continue
                self.send("%s: %s" % (cmd, what), self.nl.message(cmd, data),
                          change)

    def dumps(self):
        for cmd in ("service-get", "backend-get"):
            for what, data in mangled(WHOLE[cmd]):
                self.send("dump of %s: %s" % (cmd, what), self.nl.message(
                    cmd, data, genl.NLM_F_DUMP), False)

    def headers(self):
        """Commands, flags and versions that there are not."""
        for cmd in range(256):
            for nlflags in (genl.NLM_F_ACK, genl.NLM_F_DUMP):
                if cmd == C["CMD_FLUSH"]:
                    continue
                self.send("command %u" % cmd, self.nl.message(
                    cmd, b"", nlflags), False)
        for version in (0, 2, 255):
            self.send("version %u" % version, self.nl.message(
                "info-get", b"", version=version), False)
        self.dumps()

    def random(self, seed, rounds):
        numbers = random.Random(seed)
        all_attrs = [b"".join(attrs) for attrs in WHOLE.values()]
        for i in range(rounds):
            data = bytearray(numbers.choice(all_attrs))
            how = numbers.randrange(3)
            if how == 0:
                data = numbers.randbytes(numbers.randrange(0, 400) & ~3)
            elif how == 1:
                for _ in range(numbers.randrange(1, 8)):
                    data[numbers.randrange(len(data))] = numbers.randrange(256)
            else:
                at = numbers.randrange(len(data)) & ~3
                data[at:at] = numbers.randbytes(4 * numbers.randrange(1, 9))
            cmd = numbers.randrange(1, 16)
            if cmd == C["CMD_FLUSH"] and not data:
                continue
            self.send("random %u of seed %u" % (i, seed),
                      self.nl.message(cmd, bytes(data)))

    def done(self):
        if not genl.same(self.nl.snapshot(), self.before):
            self.bad += 1
            print("something has changed")
        print("%u requests, %u bad; answers: %s" % (
            self.count, self.bad, ", ".join(
                "%s %u" % one for one in sorted(self.codes.items()))))
        # Of what is malformed most must be refused, or nothing was tried.
        if self.codes.get("EINVAL", 0) * 4 < self.count and self.count > 600:
            sys.exit("few are refused")
        sys.exit(self.bad > 0)


def main():
    fuzz = Fuzz()
    what = sys.argv[1]
    if what == "headers":
        fuzz.headers()
    elif what == "random":
        seed = int(sys.argv[2])
        fuzz.random(seed, int(sys.argv[3]))
    else:
        fuzz.commands(sys.argv[2:])
    fuzz.done()


if __name__ == "__main__":
    main()
