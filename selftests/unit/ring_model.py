#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ring version 1, written a second time from its description.

Slow and plain on purpose: every point is looked at for what it is, nothing is
merged, radix-sorted or remembered. The C code must give the same.

    ring_model.py            print the vectors
    ring_model.py --check    compare them with vectors/ring-v1.tsv
    ring_model.py --write    replace vectors/ring-v1.tsv
"""

import ipaddress
import struct

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

    def __init__(self, backends, points, unit, slots, hash="5tuple",
                 key=KEY_DEFAULT):
        self.key, self.hash, self.slots = key, hash, slots
        self.weights = {identity(a, p): w for a, p, w in backends}
        self.points = sorted(
            (point(key, ident, i), ident)
            for ident, w in self.weights.items()
            for i in range(n_points(points, unit, w)))
        self.arcs = self.first_choices()

    def first_choices(self):
        arcs, at = [], 0
        for arc in range(self.slots):
            start = arc * 2**64 // self.slots
            while at < len(self.points) and self.points[at][0] < start:
                at += 1
            arcs.append(self.points[at % len(self.points)][1]
                        if self.points else None)
        return arcs

    def shares(self):
        return {ident: self.arcs.count(ident) for ident in self.weights}

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
    ring = Ring(REFERENCE, points=40, unit=100, slots=1024)
    flows = [flow_hash(ring.key, hash, 6, src, 40000, dst, 443)
             for src, dst in (("198.51.100.7", "192.0.2.10"),
                              ("2001:db8::1", "2001:db8::ff"))
             for hash in ("5tuple", "src")]
    return siphash(ring.key, struct.pack(">5Q", ring.digest(), *flows))


if __name__ == "__main__":
    print("reference\t%016x" % reference())
