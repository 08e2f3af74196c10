#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""ICMP errors about packets from the service address, for icmp_direct.sh.

icmp_direct.py known FAMILY TABLE
        about the flows in the table of conns.py, on their way to the backend
        that has the flow
icmp_direct.py unknown FAMILY DIRECTOR SERVICE PORT
        about flows that nobody knows, on their way to where lookup says
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


if __name__ == "__main__":
    f.main({"known": known, "unknown": unknown, "host": host})
