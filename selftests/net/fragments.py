#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Datagrams in pieces, for fragments.sh.

fragments.py datagrams FAMILY PORT [GAPS]
        to the servers of whoami.py at the service address: in all orders and
        forms; each must be answered, whole, by the backend that lookup names.
        GAPS: also some that are not complete, which nobody must get
fragments.py syn FAMILY PORT
        TCP SYNs in the smallest pieces that there may be
fragments.py headers FAMILY PORT
        not in pieces, behind extension headers (IPv6)
"""

import itertools
import os
import select
import socket

import frames as f
from frames import Port, expect, true, udp

SECOND = {4: "192.0.2.11", 6: "2001:db8:a::11"}
SIZE, PIECE = 4000, 1200


class Client:
    def __init__(self, family, port):
        self.family, self.port = int(family), int(port)
        self.vip = f.VIP[self.family]
        self.cl, self.mac = Port("cl", "c0"), f.mac_of("lb", "l0")
        self.sport = 33000 + self.port * 10
        self.ident = itertools.count(os.getpid() << 4 & 0xffff)
        self.owner = {}

    def pieces(self, src, sport, data, first=None, ident=None, proto=f.UDP,
               before=b"", after=b"", df=False, size=PIECE):
        """The packets of a datagram. FIRST: bytes in the first one. BEFORE, AFTER:
        extension headers before and behind the fragment header."""
        if proto == f.UDP:
            data = udp(src, self.vip, sport, self.port, data)
        data = after + data
        proto = f.DSTOPTS if after else proto
        ident = next(self.ident) & 0xffff if ident is None else ident
        at, packets, length = 0, [], first or size
        while at < len(data):
            part = data[at:at + length]
            more = at + len(part) < len(data)
            if self.family == 4:
                packets.append(f.ipv4(src, self.vip, proto, part, ident=ident,
                                      mf=more, off=at, df=df))
            else:
                head = f.fragment_header(proto, ident, at, more)
                packets.append(f.ipv6(src, self.vip, f.DSTOPTS if before else
                                      f.FRAGMENT, before + head + part))
            at, length = at + len(part), size
        return packets

    def send(self, *packets):
        for packet in packets:
            self.cl.send_ip(self.mac, packet)

    def socket(self, src):
        """One that gets the answers, (socket, port); whose is asked first."""
        self.sport += 1
        answer, = f.lookup("lb", [("udp", src, self.sport, self.vip, self.port)])
        self.owner[self.sport] = f.backend_of(answer["address"])
        kind = socket.AF_INET if self.family == 4 else socket.AF_INET6
        sock = f.socket_in("cl", kind, socket.SOCK_DGRAM)
        sock.bind((src, self.sport))
        return sock, self.sport

    def answered(self, what, sock, sport, data):
        owner = self.owner[sport]
        if not select.select([sock], [], [], f.TIMEOUT)[0]:
            true(f"{what}: no answer", False)
            return owner
        words = sock.recv(65536).split(b" ", 5)
        expect(f"{what}: answered by", words[0].decode(), f"b{owner}")
        true(f"{what}: other data", words[5] == data)
        return owner


def data_of(what, size=SIZE):
    text = what.encode() * (size // len(what) + 1)
    return text[:size]


def datagrams(family, port, gaps=""):
    client = Client(family, port)
    src, other = f.CL[client.family], SECOND[client.family]
    owners = set()
    reorder = {
        "in order": lambda p: p,
        "last first": lambda p: p[::-1],
        "first last": lambda p: p[1:] + p[:1],
        "mixed": lambda p: p[1:2] + p[3:] + p[:1] + p[2:3],
        "one twice": lambda p: p[:2] + p[1:2] + p[2:],
    }
    forms = {"plain": {}, "tiny first": {"first": 8}, "small": {"size": 400}}
    if client.family == 4:
        forms["don't fragment"] = {"df": True}
    else:
        forms["options before"] = {"before": f.destination_options(f.FRAGMENT)}
        forms["options behind"] = {"after": f.destination_options(f.UDP, 24)}
    for (order, change), (form, how) in itertools.product(reorder.items(), forms.items()):
        what = f"{form}, {order}"
        sock, sport = client.socket(src)
        data = data_of(what)
        client.send(*change(client.pieces(src, sport, data, **how)))
        owners.add(client.answered(what, sock, sport, data))
    true("all backends are concerned", len(owners) == 3)

    # Two senders, one identification.
    for _ in range(4):
        (one, sport), (two, sport2) = client.socket(src), client.socket(other)
        data, data2 = data_of("one"), data_of("two")
        ident = next(client.ident) & 0xffff
        mixed = zip(client.pieces(src, sport, data, ident=ident),
                    client.pieces(other, sport2, data2, ident=ident)[::-1])
        client.send(*itertools.chain(*mixed))
        client.answered("interleaved", one, sport, data)
        client.answered("interleaved", two, sport2, data2)

    if client.family == 6:
        for size in 1, 1000:
            sock, sport = client.socket(src)
            packets = client.pieces(src, sport, b"x" * size)
            expect("atomic fragments", len(packets), 1)
            client.send(*packets)
            client.answered("an atomic fragment", sock, sport, b"x" * size)

    if gaps:
        missing(client, src)


def missing(client, src):
    """What lacks a piece is nobody's."""
    backends = [Port(f"b{i}", "e0") for i in range(1, 4)]
    sock, sport = client.socket(src)
    whole = client.pieces(src, sport, data_of("gap"))
    for gap in range(len(whole)):
        packets = client.pieces(src, sport, data_of("gap"))
        client.send(*packets[:gap], *packets[gap + 1:])
    client.send(f.ip(src, client.vip, f.UDP, udp(src, client.vip, sport, client.port, b"marker")))
    client.answered("behind a gap", sock, sport, b"marker")
    count = 0
    for port in backends:
        while frame := port.next(0):
            packet = frame.ip and (frame.ip.inner() or frame.ip)
            count += bool(packet and packet.src == src and packet.proto == f.UDP)
    expect("packets at backends", count, 1)


def syn(family, port):
    client = Client(family, port)
    backends = [Port(f"b{i}", "e0") for i in range(1, 4)]
    src = "192.0.2.77" if client.family == 4 else "2001:db8:a::77"
    for sport in range(41000, 41010):
        data = f.tcp(src, client.vip, sport, client.port,
                     options=b"\2\4\5\xb4" + b"\1" * 16)
        # IPv6 wants the whole of TCP's own header in the first one (RFC 8200).
        packets = client.pieces(src, sport, data, size=8, proto=f.TCP,
                                first=8 if client.family == 4 else 24)
        answer, = f.lookup("lb", [("tcp", src, sport, client.vip, client.port)])
        client.send(*(packets[::-1] if sport % 2 else packets))
        port, _ = f.catch_any(backends, lambda frame: first_ports(frame, client.vip)
                              == (sport, client.port))
        expect(f"SYN from {sport} gets to", port and port.name,
               f"b{f.backend_of(answer['address'])}")


def first_ports(frame, vip):
    packet = frame.ip.inner() or frame.ip
    if packet.dst == vip and packet.proto == f.TCP and not packet.off:
        return packet.ports()
    return None


def headers(family, port):
    client = Client(family, port)
    src = f.CL[client.family]
    chains = {
        "destination options": [(f.DSTOPTS, 8)],
        "long options": [(f.DSTOPTS, 256)],
        "hop-by-hop options": [(f.HOPOPTS, 8)],
        "several": [(f.HOPOPTS, 16), (f.DSTOPTS, 8), (f.DSTOPTS, 24)],
    }
    for what, chain in chains.items():
        sock, sport = client.socket(src)
        packet = udp(src, client.vip, sport, client.port, b"hello")
        proto = f.UDP
        for kind, size in reversed(chain):
            packet = f.destination_options(proto, size) + packet
            proto = kind
        client.send(f.ipv6(src, client.vip, proto, packet))
        client.answered(what, sock, sport, b"hello")


if __name__ == "__main__":
    f.main({"datagrams": datagrams, "syn": syn, "headers": headers})
