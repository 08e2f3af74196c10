#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ring version 1, made from the text of RING VERSION 1 in chctl(8) and from nothing
else: what that leaves open, this could not know.

Slow and plain on purpose: every point is looked at for what it is, nothing is
merged, radix-sorted or remembered. The C code must give the same.

    ring_model.py            print the vectors
    ring_model.py --check    compare them with vectors/ring-v1.tsv, and those
                             that the manual page prints with these
    ring_model.py --write    replace vectors/ring-v1.tsv
"""

import argparse
import bisect
import collections
import hashlib
import ipaddress
import pathlib
import re
import struct
import sys

VECTORS = pathlib.Path(__file__).parent / "vectors" / "ring-v1.tsv"
MANUAL = pathlib.Path(__file__).parents[2] / "userspace" / "man" / "chctl.8"

MASK = (1 << 64) - 1

KEY_DEFAULT = b"chsteer-ring-v1\0"
VERSION = 1
HASHES = {"5tuple": 0, "src": 1}


def rotl(x, b):
    return ((x << b) | (x >> (64 - b))) & MASK


def sipround(v0, v1, v2, v3):
    v0 = (v0 + v1) & MASK
    v1 = rotl(v1, 13) ^ v0
    v0 = rotl(v0, 32)
    v2 = (v2 + v3) & MASK
    v3 = rotl(v3, 16) ^ v2
    v0 = (v0 + v3) & MASK
    v3 = rotl(v3, 21) ^ v0
    v2 = (v2 + v1) & MASK
    v1 = rotl(v1, 17) ^ v2
    v2 = rotl(v2, 32)
    return v0, v1, v2, v3


def siphash(key, data):
    """SipHash-2-4 with a 64-bit result, as in the paper of 2012."""
    k0, k1 = struct.unpack("<2Q", key)
    v = (k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
         k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573)
    whole = len(data) & ~7
    tail = data[whole:].ljust(7, b"\0") + bytes([len(data) & 0xFF])
    for (m,) in struct.iter_unpack("<Q", data[:whole] + tail):
        v = (v[0], v[1], v[2], v[3] ^ m)
        v = sipround(*sipround(*v))
        v = (v[0] ^ m, v[1], v[2], v[3])
    v = (v[0], v[1], v[2] ^ 0xFF, v[3])
    for _ in range(4):
        v = sipround(*v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def addr16(text):
    """An address in 16 bytes, IPv4 as v4-mapped IPv6."""
    addr = ipaddress.ip_address(text)
    if addr.version == 4:
        return b"\0" * 10 + b"\xff\xff" + addr.packed
    return addr.packed


def identity(addr, port):
    return addr16(addr) + struct.pack(">H", port)


def n_points(points, unit, weight):
    """max(1, round half up (points * weight / unit)), or none."""
    if not weight:
        return 0
    return max(1, (2 * points * weight + unit) // (2 * unit))


def point(key, ident, index):
    return siphash(key, ident + b"\0\0" + struct.pack(">I", index))


class Ring:
    """backends: list of (address, port, weight), in any order."""

    def __init__(self, backends, points, unit, slots, balance=0,
                 hash="5tuple", key=KEY_DEFAULT):
        self.key, self.hash, self.slots = key, hash, slots
        self.weights = {identity(a, p): w for a, p, w in backends}
        self.points = sorted(
            (point(key, ident, i), ident)
            for ident, w in self.weights.items()
            for i in range(n_points(points, unit, w)))
        self.arcs = self.settle(balance) if self.points else [None] * slots

    def first(self, arc):
        """Number of the first point at or after the arc's start."""
        start = arc * 2**64 // self.slots
        return bisect.bisect_left(self.points, (start,)) % len(self.points)

    def settle(self, balance):
        """Owners of all arcs; balance in hundredths, 0 for off."""
        total = sum(self.weights.values())
        room = {ident: max(balance * self.slots * w // (100 * total),
                           -(-self.slots * w // total))
                if balance else self.slots
                for ident, w in self.weights.items()}
        arcs = [None] * self.slots
        bits = self.slots.bit_length() - 1
        for i in range(self.slots):
            arc = int(format(i, "0%db" % bits)[::-1], 2)
            at = self.first(arc)
            while not room[self.points[at][1]]:
                at = (at + 1) % len(self.points)
            arcs[arc] = self.points[at][1]
            room[arcs[arc]] -= 1
        return arcs

    def shares(self):
        count = collections.Counter(self.arcs)
        return {ident: count[ident] for ident in self.weights}

    def digest(self):
        word = {ident: siphash(self.key, ident) for ident in self.weights}
        word[None] = 0
        d = siphash(self.key, struct.pack(">IIQ", VERSION, HASHES[self.hash],
                                          self.slots))
        for at in range(0, self.slots, 64):
            block = [word[ident] for ident in self.arcs[at:at + 64]]
            d = siphash(self.key, struct.pack(">65Q", d, *block))
        return d

    def owner(self, flow_hash):
        return self.arcs[flow_hash * self.slots >> 64]


def flow_hash(key, hash, proto, saddr, sport, daddr, dport):
    src = ipaddress.ip_address(saddr).packed
    dst = ipaddress.ip_address(daddr).packed
    if hash == "src":
        return siphash(key, src if len(src) == 16 else src + b"\0" * 4)
    return siphash(key, src + dst + struct.pack(">HHB3x", sport, dport, proto))


REFERENCE = [
    ("10.0.0.2", 80, 100),
    ("10.0.0.10", 9, 100),
    ("10.0.0.10", 8080, 50),
    ("192.0.2.1", 0, 1),
    ("192.0.2.2", 65535, 0),
    ("2001:db8::1", 443, 7),
    ("2001:db8::ff", 443, 133),
]


def reference():
    """What chs_ring_reference() and CHS_RING_REFERENCE_DIGEST are."""
    ring = Ring(REFERENCE, points=40, unit=100, slots=1024, balance=110)
    flows = [flow_hash(ring.key, hash, 6, src, 40000, dst, 443)
             for src, dst in (("198.51.100.7", "192.0.2.10"),
                              ("2001:db8::1", "2001:db8::ff"))
             for hash in ("5tuple", "src")]
    return siphash(ring.key, struct.pack(">5Q", ring.digest(), *flows))


class Numbers:
    """Numbers that look random and are the same everywhere."""

    def __init__(self, name):
        self.name, self.count = name, 0

    def below(self, n):
        self.count += 1
        digest = hashlib.sha256(b"%s %d" % (self.name, self.count)).digest()
        return int.from_bytes(digest[:8], "big") % n

    def v4(self):
        return str(ipaddress.IPv4Address(self.below(2**32)))

    def v6(self):
        return str(ipaddress.IPv6Address(0x20010DB8 << 96
                                         | self.below(2**64)))


SEED = bytes(range(0xF0, 0x100))
PROTOS = {"tcp": 6, "udp": 17, "sctp": 132}

STANDARD = dict(points=512, unit=100, slots=16384)

# name, what the ring is made by, backends in no particular order
RINGS = [
    ("five", STANDARD,
     [("10.0.0.%d" % i, 80, 100) for i in (3, 1, 5, 2, 4)]),
    ("default", dict(points=768, unit=100, slots=65536, balance=108),
     [("10.0.0.%d" % i, 80, 100) for i in range(1, 11)]),
    ("similar", dict(points=512, unit=100, slots=4096),
     [("10.0.0.%d" % i, 80, 100) for i in (8, 1, 7, 2, 6, 3, 5, 4)]),
    ("octets", dict(points=100, unit=100, slots=1024),
     [("10.0.0.%d" % i, 80, 100)
      for i in (2, 3, 9, 10, 11, 12, 19, 20, 21, 90, 99, 100)]),
    ("ports", dict(points=100, unit=100, slots=1024),
     [("10.0.0.1", p, 100) for p in (10, 9, 8080, 100, 0, 65535)]),
    ("one-seven", dict(points=160, unit=7, slots=4096),
     [("192.0.2.1", 443, 1), ("192.0.2.2", 443, 7), ("192.0.2.3", 443, 7),
      ("192.0.2.4", 443, 1)]),
    ("six", dict(points=512, unit=100, slots=16384),
     [("2001:db8::%x" % i, 53, w)
      for i, w in ((1, 100), (0x10, 100), (2, 50), (0xA, 7), (9, 1),
                   (0xFFFF, 133))]),
    ("mixed", dict(points=64, unit=50, slots=2048, key=SEED),
     [("10.1.2.3", 8080, 50), ("10.1.2.3", 8081, 50), ("10.1.2.4", 0, 25),
      ("2001:db8:1::1", 8080, 100), ("2001:db8::1", 8080, 1),
      ("203.0.113.9", 1, 0), ("255.255.255.254", 9, 3)]),
    ("client", dict(points=512, unit=100, slots=1024, hash="src", key=SEED),
     [("10.0.0.1", 80, 100), ("10.0.0.2", 80, 7), ("10.0.0.3", 80, 1000)]),
    ("rounded", dict(points=3, unit=10000, slots=256),
     [("10.0.0.1", 1, 1), ("10.0.0.2", 1, 4999), ("10.0.0.3", 1, 5000),
      ("10.0.0.4", 1, 10000), ("10.0.0.5", 1, 8333), ("10.0.0.6", 1, 8334)]),
    ("halves", dict(points=5, unit=2, slots=256),
     [("10.0.0.%d" % i, 1, i) for i in (1, 2, 3, 5)]),
    ("close", dict(points=100, unit=100, slots=4096, balance=101),
     [("10.0.0.%d" % i, 80, 100) for i in range(1, 11)]),
    ("bounded", dict(points=512, unit=100, slots=16384, balance=110),
     [("10.0.%d.%d" % (i // 8, i), 80, 100 if i % 3 else 37)
      for i in range(30)]),
    ("bounded-mixed", dict(points=40, unit=100, slots=1024, balance=125,
                           key=SEED),
     [("10.0.0.1", 80, 100), ("2001:db8::1", 80, 7), ("10.0.0.2", 80, 0),
      ("2001:db8::2", 80, 1000), ("10.0.0.3", 80, 1)]),
    ("scarce", dict(points=20, unit=100, slots=256, balance=105),
     [("10.0.0.%d" % i, 80, 100 if i % 7 else 3) for i in range(1, 60)]),
    ("loose", dict(points=2, unit=100, slots=512, balance=200),
     [("10.0.0.%d" % i, 80, 100) for i in (1, 2, 3)]),
    ("alone", dict(points=1, unit=1, slots=256), [("10.0.0.1", 80, 1)]),
    ("idle", dict(points=10, unit=100, slots=256),
     [("10.0.0.1", 80, 0), ("10.0.0.2", 80, 0)]),
    ("empty", dict(points=10, unit=100, slots=256), []),
]

# Rings that flows are steered by, and how many each.
STEERED = [("five", 200), ("bounded", 100), ("one-seven", 200),
           ("six", 200), ("mixed", 200), ("client", 100)]


def text(ident):
    if ident is None:
        return "-", 0
    addr = ipaddress.IPv6Address(ident[:16])
    return str(addr.ipv4_mapped or addr), struct.unpack(">H", ident[16:])[0]


def point_vectors():
    for key in (KEY_DEFAULT, SEED):
        for addr, port in (("10.0.0.1", 80), ("10.0.0.10", 8080),
                           ("192.0.2.1", 0), ("255.255.255.255", 65535),
                           ("2001:db8::1", 443), ("fe80::1:2:3:4", 1)):
            for index in (0, 1, 2, 255, 256, 511, 65536, 4194303):
                yield ("point", key.hex(), addr, port, index, "%016x"
                       % point(key, identity(addr, port), index))


def random_flow(numbers, v6):
    address = numbers.v6 if v6 else numbers.v4
    proto = sorted(PROTOS)[numbers.below(3)]
    return (proto, address(), numbers.below(65536), address(),
            numbers.below(65536))


def hash_vectors():
    numbers = Numbers(b"hash")
    for i in range(48):
        key = SEED if i & 1 else KEY_DEFAULT
        proto, *ends = random_flow(numbers, i & 2)
        for hash in ("5tuple", "src"):
            yield ("hash", key.hex(), hash, proto, *ends,
                   "%016x" % flow_hash(key, hash, PROTOS[proto], *ends))


def ring_vectors(name, conf, backends):
    ring = Ring(backends, **conf)
    yield ("ring", name, ring.key.hex(), ring.hash, conf["points"],
           conf["unit"], conf["slots"], conf.get("balance", 0))
    shares = ring.shares()
    for addr, port, weight in backends:
        yield ("node", addr, port, weight,
               n_points(conf["points"], conf["unit"], weight),
               shares[identity(addr, port)])
    yield ("digest", "%016x" % ring.digest())

    numbers = Numbers(name.encode())
    for i in range(dict(STEERED).get(name, 0)):
        proto, *ends = random_flow(numbers, i & 1)
        value = flow_hash(ring.key, ring.hash, PROTOS[proto], *ends)
        yield ("steer", proto, *ends, *text(ring.owner(value)))


def vectors():
    yield ("# Ring version 1. Made by ring_model.py; balance is in hundredths, 0 is "
           "off; every node is up;",)
    yield ("# a flow is of the ring above it; the reference is for the C code "
           "alone. Columns:",)
    for line in ("point key address port index position",
                 "hash key what proto saddr sport daddr dport value",
                 "ring name key hash points unit slots balance",
                 "node address port weight points arcs",
                 "digest value",
                 "steer proto saddr sport daddr dport address port",
                 "reference value"):
        yield tuple(("# " + line).split())
    yield from point_vectors()
    yield from hash_vectors()
    for name, conf, backends in RINGS:
        yield from ring_vectors(name, conf, backends)
    yield ("reference", "%016x" % reference())


def printed():
    """Positions, hashes and digests of the manual page's test vectors."""
    section = MANUAL.read_text().split(".SS Test vectors")[1]
    return re.findall(r"\b[0-9a-f]{16}\b", section.split(".SH")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true",
                        help="compare with the file")
    parser.add_argument("--write", action="store_true",
                        help="replace the file")
    args = parser.parse_args()

    now = "".join("\t".join(map(str, line)) + "\n" for line in vectors())
    if args.write:
        VECTORS.write_text(now)
    elif not args.check:
        sys.stdout.write(now)
    elif VECTORS.read_text() != now:
        sys.exit("%s: differs from the model" % VECTORS)
    else:
        unknown = [value for value in printed() if "\t" + value not in now]
        if unknown or len(printed()) < 14:
            sys.exit("%s: not the model's: %s" % (MANUAL.name, unknown))
        print("%s: %d lines as the model has them"
              % (VECTORS.name, now.count("\n")))


if __name__ == "__main__":
    main()
