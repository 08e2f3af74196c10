#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Packets that are not the client's, for pins.sh.

pins.py forged FAMILY SPORT:BACKEND...
        each connection from SPORT to port 80, which is at BACKEND (b1, ...), is
        sent a SYN, data, a reset and a FIN with numbers far off; all must get
        to that backend. Then a SYN that may well be for a new connection, which
        nothing follows.
"""

import frames as f
from frames import Port, tcp

FAR = 0x70000000


def forged(family, *flows):
    family = int(family)
    vip, src = f.VIP[family], f.CL[family]
    cl, mac = Port("cl", "c0"), f.mac_of("lb", "l0")
    backends = [Port(f"b{i}", "e0") for i in range(1, 5)]
    for flow in flows:
        sport, owner = flow.split(":")
        sport = int(sport)
        for flags in f.SYN, f.ACK, f.RST, f.FIN | f.ACK:
            data = tcp(src, vip, sport, 80, flags, FAR, 0x60000000)
            cl.send_ip(mac, f.ip(src, vip, f.TCP, data))
            port, _ = f.catch_any(
                backends, lambda frame: frame.ip.dst == vip and
                frame.ip.proto == f.TCP and frame.ip.data[:20] == data[:20])
            f.expect(f"flags {flags} from {sport}: backend", port and port.name, owner)
        cl.send_ip(mac, f.ip(src, vip, f.TCP, tcp(src, vip, sport, 80, seq=FAR)))


if __name__ == "__main__":
    f.main({"forged": forged})
