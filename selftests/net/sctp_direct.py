#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""SCTP from many clients, for sctp_direct.sh.

sctp_direct.py inits FAMILY PORT SERVICE
        an INIT from each of 500 addresses, all of one port, twice
"""

import collections
import json
import struct

import frames as f
from frames import Port, expect, true

COUNT = 500


def init(sport, dport, tag):
    chunk = struct.pack("!BBHIIHHI", 1, 0, 20, tag, 65536, 10, 10, tag)
    return f.sctp(sport, dport, chunk)


def inits(family, port, service):
    family, port = int(family), int(port)
    vip, cl, mac = f.VIP[family], Port("cl", "c0"), f.mac_of("lb", "l0")
    backends = [Port(f"b{i}", "e0") for i in range(1, 5)]
    base = "198.18." if family == 4 else "2001:db8:bad::"
    sources = [f"{base}{i // 250}.{i % 250 + 1}" if family == 4 else f"{base}{i + 1:x}"
               for i in range(COUNT)]
    flows = [("sctp", src, port, vip, port) for src in sources]
    owners = [f"b{f.backend_of(answer['address'])}" for answer in f.lookup("lb", flows)]
    for turn in range(2):
        for i, (src, owner) in enumerate(zip(sources, owners)):
            tag = turn * COUNT + i + 1
            packet = init(port, port, tag)
            cl.send_ip(mac, f.ip(src, vip, f.SCTP, packet))
            got, _ = f.catch_any(backends, lambda frame: (
                (frame.ip.inner() or frame.ip).data == packet))
            if not expect(f"INIT {turn} from {src} gets to", got and got.name, owner):
                return
    count = collections.Counter(owners)
    shares = {f"b{f.backend_of(b['address'])}": b["share"] for b in
              json.loads(f.ctl("lb", "-j", "backend", "show", service))}
    for name, share in shares.items():
        # Three standard deviations.
        slack = 3 * (share * (1 - share) * COUNT) ** 0.5
        true(f"{name} gets {count[name]} of {COUNT}, its share is {share}",
             abs(count[name] - share * COUNT) <= slack)


if __name__ == "__main__":
    f.main({"inits": inits})
