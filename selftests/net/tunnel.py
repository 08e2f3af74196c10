#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Packets in tunnels, byte by byte, for tunnel.sh and mtu.sh. INNER and OUTER are
4 or 6, PORT is the service's for TCP and for UDP.

tunnel.py headers MODE INNER OUTER PORT [DEVICE]
        what is on the line behind the director: outer headers, and in them what
        the client sent
tunnel.py ttl MODE INNER OUTER PORT
        the last hop
tunnel.py source INNER PORT SERVICE ADDRESS
        the outer source is ADDRESS; "none": nothing is sent, which is counted
tunnel.py toobig MODE MTU INNER OUTER PORT [INNER OUTER PORT]...
        what just fits into MTU bytes gets through; for what is larger the client
        is told how much would
tunnel.py rate INNER PORT SERVICE
        told not too often
tunnel.py learnt MODE INNER OUTER PORT MTU
        told also when it is a router behind the director that has only so much
tunnel.py big MODE INNER OUTER PORT
        a merged packet that an outer header could not tell the length of arrives
        whole, a datagram as large is dropped and counted
tunnel.py fragmented INNER PORT
        what may be fragmented is, and is answered
"""

import select
import socket
import struct
import time

import frames as f
from frames import Port, expect, fail, tcp, true, udp

SRC = {4: "192.0.2.77", 6: "2001:db8:a::77"}    # nobody
OUTER = {4: "10.0.3.2", 6: "2001:db8:3::2"}


def overhead(mode, outer):
    return (20 if outer == 4 else 40) + (8 if mode == "gue" else 0) if mode != "route" else 0


class World:
    def __init__(self, inner, port, dev="r0"):
        self.inner, self.port = int(inner), int(port)
        self.vip, self.cl_address = f.VIP[self.inner], f.CL[self.inner]
        self.cl, self.mac = Port("cl", "c0"), f.mac_of("lb", "l0")
        self.r = Port("r", dev)

    def send(self, packet):
        self.cl.send_ip(self.mac, packet)

    def mine(self, frame):
        packet = frame.ip.inner() or frame.ip
        return packet.dst == self.vip and packet.proto in (f.TCP, f.UDP)

    def from_port(self, sport):
        def match(frame):
            return self.mine(frame) and (frame.ip.inner() or frame.ip).ports()[0] == sport
        return match

    def udp(self, sport, size, src=None, **options):
        """A datagram in a packet of SIZE bytes."""
        src = src or self.cl_address
        head = (20 if self.inner == 4 else 40) + len(options.get("options", b"")) + 8
        before = options.pop("before", None)
        data = udp(src, self.vip, sport, self.port,
                   bytes(i * 7 & 255 for i in range(size - head - len(before or b""))))
        kind = f.UDP
        if before:
            kind, data = f.DSTOPTS, before + data
        if self.inner == 4:
            options.setdefault("df", True)
        return f.ip(src, self.vip, kind, data, **options)

    def neighbour(self):
        """Both ends know each other."""
        self.send(self.udp(19999, 100, SRC[self.inner]))
        true("the router is reached", self.r.catch(self.from_port(19999)))


def forwarded(packet):
    """What routing would make of it."""
    if packet[0] >> 4 == 6:
        return packet[:7] + bytes([packet[7] - 1]) + packet[8:]
    size = (packet[0] & 15) * 4
    head = packet[:8] + bytes([packet[8] - 1, packet[9], 0, 0]) + packet[12:size]
    return head[:10] + struct.pack("!H", f.checksum(head)) + head[12:] + packet[size:]


def check_outer(what, mode, inner, outer, packet):
    """PACKET is right around something of family INNER; its UDP source port."""
    expect(f"{what}: family", packet.version, outer)
    expect(f"{what}: extensions", packet.extensions, [])
    true(f"{what}: sum of the header", packet.header_good())
    expect(f"{what}: offset", (packet.off, packet.mf), (0, 0))
    true(f"{what}: TTL {packet.ttl}", packet.ttl >= 32)
    if mode == "ipip":
        expect(f"{what}: protocol", packet.proto, f.IPIP if inner == 4 else f.IPV6)
        return None
    expect(f"{what}: protocol", packet.proto, f.UDP)
    sport, dport, length, total = struct.unpack("!HHHH", packet.data[:8])
    expect(f"{what}: port", dport, f.GUE_PORT)
    true(f"{what}: source port {sport}", sport >= 0xc000)
    expect(f"{what}: length", length, len(packet.data))
    if outer == 6 or total:
        true(f"{what}: sum of UDP", packet.good())
    return sport


def headers(mode, inner, outer, port, dev="r0"):
    world, outer = World(inner, port, dev), int(outer)
    world.neighbour()
    src, sports = SRC[world.inner], {}
    shapes = [(tos, ttl) for tos in (0, 0x01, 0x02, 0x03, 0xb8, 0xba, 0xbb, 0x28)
              for ttl in (64,)] + [(0, 2), (0, 255), (0xb9, 33), (0, 128)]
    flows = [("tcp" if i % 2 else "udp", src, 20000 + i, world.vip, world.port)
             for i in range(len(shapes))]
    answers = f.lookup("lb", flows)
    true("both backends are concerned", len({a["address"] for a in answers}) == 2)
    for (proto, _, sport, _, _), (tos, ttl), answer in zip(flows * 2, shapes * 2, answers * 2):
        what = f"{proto} from {sport}, tos {tos:#x}, ttl {ttl}"
        options = {"ident": sport, "df": True} if world.inner == 4 else {"flow": sport}
        if proto == "tcp":
            data = tcp(src, world.vip, sport, world.port, f.ACK, 7, 8, b"x" * (sport % 50))
            packet = f.ip(src, world.vip, f.TCP, data, tos=tos, ttl=ttl, **options)
        else:
            packet = world.udp(sport, 1000 + sport % 50, src, tos=tos, ttl=ttl, **options)
        world.send(packet)
        frame = world.r.catch(world.from_port(sport))
        if not true(f"{what}: arrives", frame):
            continue
        got = frame.ip
        number = check_outer(what, mode, world.inner, outer, got)
        expect(f"{what}: source port of its flow", number, sports.setdefault(sport, number))
        expect(f"{what}: from", got.src, OUTER[outer])
        expect(f"{what}: to", got.dst, answer["address"])
        if outer == 4 and world.inner == 4:
            expect(f"{what}: DF", got.df, 1)
        # DSCP is copied; congestion must not get lost (RFC 6040).
        expect(f"{what}: DSCP", got.tos >> 2, tos >> 2)
        true(f"{what}: ECN {got.tos & 3}", got.tos & 3 == tos & 3 or
             (tos & 3, got.tos & 3) == (3, 2))
        if got.inner():
            expect(f"{what}: inside", got.inner().whole.hex(), forwarded(packet).hex())
    if mode == "gue":
        true(f"source ports differ: {sports}", len(set(sports.values())) > len(sports) // 2)


def icmp_of(family, v4, v6):
    """For errors of that type."""
    def match(frame):
        return (frame.ip.version == family and
                frame.ip.proto == (f.ICMP if family == 4 else f.ICMPV6) and
                frame.ip.data[0] == (v4 if family == 4 else v6))
    return match


def check_error(world, what, frame, packet):
    """A new and proper packet about the one that was sent."""
    error = frame.ip
    expect(f"{what}: to", error.dst, world.cl_address)
    expect(f"{what}: from", error.src, world.vip)
    expect(f"{what}: fragment", (error.off, error.mf), (0, 0))
    expect(f"{what}: length of the header", len(error.header), 20 if world.inner == 4 else 40)
    true(f"{what}: TTL {error.ttl}", error.ttl >= 32)
    true(f"{what}: sums", error.header_good() and error.good())
    if world.inner == 4:
        expect(f"{what}: reserved", error.reserved, 0)
        expect(f"{what}: unused", error.data[4:6], b"\0\0")
    true(f"{what}: of {len(error.whole)} bytes",
         len(error.whole) <= (576 if world.inner == 4 else 1280))
    quote = error.data[8:]
    true(f"{what}: quotes {len(quote)} bytes", len(quote) >= (28 if world.inner == 4 else 48))
    expect(f"{what}: quote", quote.hex(), packet[:len(quote)].hex())


def mtu_in(error):
    if error.version == 4:
        return struct.unpack("!H", error.data[6:8])[0]
    return struct.unpack("!I", error.data[4:8])[0]


def ttl(_mode, inner, _outer, port):
    world = World(inner, port)
    world.neighbour()
    packet = world.udp(23000, 200, ttl=1)
    world.send(packet)
    frame = world.cl.catch(icmp_of(world.inner, 11, 3))
    if true("time exceeded", frame):
        check_error(world, "time exceeded", frame, packet)
    world.send(world.udp(23001, 100))
    for frame in world.r.until(world.mine, world.from_port(23001)):
        fail(f"sent on: {frame.ip}")


def source(inner, port, service, address):
    world = World(inner, port)
    before = f.drops("lb", service)
    for sport in range(24000, 24005):
        world.send(world.udp(sport, 100))
        if address != "none":
            frame = world.r.catch(world.from_port(sport))
            if true("arrives", frame):
                expect("from", frame.ip.src, address)
    if address == "none":
        deadline = time.monotonic() + f.TIMEOUT
        while (f.drops("lb", service) < before + 5 and time.monotonic() < deadline):
            pass
        frame = world.r.catch(world.mine, 0.1)
        true(f"sent: {frame and frame.ip}", not frame)
        expect("drops", f.drops("lb", service) - before, 5)
    else:
        expect("drops", f.drops("lb", service) - before, 0)


def toobig(mode, mtu, *words):
    for inner, outer, port in zip(words[::3], words[1::3], words[2::3]):
        toobig_one(mode, inner, outer, port, mtu)


def toobig_one(mode, inner, outer, port, mtu):
    world = World(inner, port)
    world.neighbour()
    limit = int(mtu) - overhead(mode, int(outer))
    world.send(world.udp(25000, limit))
    frame = world.r.catch(world.from_port(25000))
    if true(f"{limit} bytes get through", frame):
        packet = frame.ip.inner() or frame.ip
        expect("bytes inside", len(packet.whole), limit)
        expect("bytes outside", len(frame.ip.whole), int(mtu))
    kinds = {"a byte": {}, "options": {"options": b"\1\1\1\0"}, "marked": {"tos": 0xba}}
    if world.inner == 6:
        kinds = {"a byte": {}, "options": {"before": f.destination_options(f.UDP)},
                 "labelled": {"flow": 0x12345}}
    for sport, (what, options) in enumerate(kinds.items(), 25001):
        size = limit + 1 if what == "a byte" else min(1500, int(mtu))
        packet = world.udp(sport, size, **options)
        if len(packet) <= limit:
            continue
        world.send(packet)
        # Not so many that a limit of the director's would hide them.
        frame = world.cl.catch(icmp_of(world.inner, 3, 2))
        if not true(f"{what} too much: the client is told", frame):
            continue
        check_error(world, what, frame, packet)
        expect(f"{what}: code", frame.ip.data[1], 4 if world.inner == 4 else 0)
        expect(f"{what}: MTU", mtu_in(frame.ip), limit)
        time.sleep(0.02)
    world.send(world.udp(25999, 100))
    for frame in world.r.until(world.mine, world.from_port(25999)):
        fail(f"sent on: {frame.ip}")


def rate(inner, port, service):
    world, count = World(inner, port), 2000
    world.neighbour()
    before = f.stats("lb", service)["icmp_limited"]
    packet = world.udp(26000, 1500)
    began = time.monotonic()
    for _ in range(count):
        world.send(packet)
    world.send(world.udp(26001, 100))
    world.r.until(world.mine, world.from_port(26001))
    # Fifty at once and a hundred a second, however long it took to send them; one
    # for each fraction that is cut off.
    most = 52 + int(100 * (time.monotonic() - began))
    told = 0
    while frame := world.cl.next(0):
        told += bool(frame.ip and icmp_of(world.inner, 3, 2)(frame))
    true(f"told {told} times about {count}, at most {most}",
         1 <= told <= most < count)
    expect("of which the others are counted",
           f.stats("lb", service)["icmp_limited"] - before, count - told)


def learnt(mode, inner, outer, port, mtu):
    world = World(inner, port)
    limit = int(mtu) - overhead(mode, int(outer))
    backends = [Port(f"b{i}", "e0") for i in (1, 2)]
    # One that the director itself lets through.
    packet = world.udp(27000, limit + 50)
    for tries in range(1, 4):
        world.send(packet)
        frame = world.cl.catch(icmp_of(world.inner, 3, 2), 1 if tries < 3 else f.TIMEOUT)
        if frame:
            break
    if true("the client is told", frame):
        # The router quotes what the director has sent on.
        check_error(world, "learnt", frame, packet)
        expect("MTU", mtu_in(frame.ip), limit)
        true(f"after {tries} packets", tries <= 2)
    for port in backends:
        port.drain()
    world.send(world.udp(27000, limit))
    _, frame = f.catch_any(backends, world.from_port(27000))
    if true("what fits arrives", frame):
        # By the frame: decapsulation has written the rest into the header.
        expect("bytes", len(frame.data) - f.ETH_HLEN, int(mtu))


def send_merged(world, sport, size, mss):
    """Sends SIZE bytes of TCP in one packet, to be segmented later."""
    sock = f.socket_in("cl", socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(f.SOL_PACKET, 15, 1)            # PACKET_VNET_HDR
    sock.bind(("c0", 0))
    src = SRC[world.inner]
    data = bytearray(tcp(src, world.vip, sport, world.port, f.ACK, 0, 1, bytes(size)))
    # Who segments it expects the sum of the pseudo-header alone.
    pseudo = f.pseudo(f.packed(src), f.packed(world.vip), f.TCP, len(data))
    data[16:18] = struct.pack("!H", f.checksum(pseudo) ^ 0xffff)
    options = {"df": True} if world.inner == 4 else {}
    packet = f.ip(src, world.vip, f.TCP, bytes(data), **options)
    start = f.ETH_HLEN + len(packet) - len(data)
    kind = 1 if world.inner == 4 else 4             # VIRTIO_NET_HDR_GSO_TCPV4, _TCPV6
    ether = struct.pack("!H", f.ETH_P_IP if world.inner == 4 else f.ETH_P_IPV6)
    sock.send(struct.pack("=BBHHHH", 1, kind, start + 20, mss, start, 16) +
              world.mac + world.cl.mac + ether + packet)


def too_big(service):
    return f.stats("lb", service)["drops"].get("too_big", 0)


def big(mode, inner, outer, port):
    world, sport, seen = World(inner, port), 21000, 0
    world.neighbour()
    # The packet is as long as a length field can tell, or nearly.
    size = 65530 - 20 - (20 if world.inner == 4 else 40)
    send_merged(world, sport, size, 1300)
    while seen < size:
        frame = world.r.catch(world.from_port(sport))
        if not true(f"{seen} of {size} bytes: more arrives", frame):
            break
        check_outer("a segment", mode, world.inner, int(outer), frame.ip)
        true("its sum", frame.ip.inner().good())
        seen += len(frame.ip.inner().data) - 20

    service = f"u-{mode}{inner}{outer}"
    before = too_big(service)
    sock = f.socket_in("cl", socket.AF_INET if world.inner == 4 else socket.AF_INET6,
                       socket.SOCK_DGRAM)
    if world.inner == 4:
        sock.setsockopt(socket.IPPROTO_IP, 10, 0)   # IP_PMTUDISC_DONT
    sock.sendto(bytes(65500 if world.inner == 4 else 65480), (world.vip, world.port))
    end = time.monotonic() + f.TIMEOUT
    while time.monotonic() < end and too_big(service) == before:
        time.sleep(0.1)
    expect("datagrams that are too big", too_big(service), before + 1)


def fragmented(inner, port):
    world = World(inner, port)
    kind = socket.AF_INET if world.inner == 4 else socket.AF_INET6
    for size in 1472, 1473, 2000, 8000:
        if world.inner == 6:
            size -= 20
        sock = f.socket_in("cl", kind, socket.SOCK_DGRAM)
        if world.inner == 4:
            sock.setsockopt(socket.IPPROTO_IP, 10, 0)       # IP_PMTUDISC_DONT
        data = b"%d" % size + bytes(i & 255 for i in range(size - len(str(size))))
        answer = None
        # IPv6 routers do not fragment: it may take an error to get it done.
        for _ in range(1 if world.inner == 4 else 3):
            sock.sendto(data, (world.vip, world.port))
            if select.select([sock], [], [], f.TIMEOUT if world.inner == 4 else 2)[0]:
                answer = sock.recv(65536).split(b" ", 5)
                break
        if true(f"{size} bytes are answered", answer):
            true(f"{size} bytes: other data", answer[5] == data)


if __name__ == "__main__":
    f.main({"headers": headers, "ttl": ttl, "source": source, "toobig": toobig,
            "rate": rate, "learnt": learnt, "big": big, "fragmented": fragmented})
