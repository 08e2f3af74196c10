#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Packets of mode route, byte by byte, for route.sh.

route.py untouched FAMILY       what leaves is what came, but for the TTL
route.py martian FAMILY         sources that no packet may have
route.py fib FAMILY             sources that only a rule drops
route.py policy FAMILY          policies of IPsec
route.py ttl FAMILY             the last hop
route.py options                options of IPv4
route.py routed                 routing headers of IPv6
route.py cast FAMILY            frames that are not for this host
route.py back FAMILY            a backend's own packets
route.py looped FAMILY          a packet that comes back with fewer hops left
route.py scope                  link-local sources of IPv6, the backend on the same
                                link, or in a tunnel (port 86)
route.py nowhere FAMILY PORT    one packet that must not leave, but be counted
route.py between FAMILY PORT    two directors that have each other for backend
route.py arrives FAMILY I       a flow's frame reaches backend I, come what may
route.py answers FAMILY         who says that the service address is his
route.py bridge FAMILY          the bridge sw is the director
route.py frag_needed FAMILY ADDRESS MTU
        the director is told that a packet of its own to ADDRESS was too big
route.py redirect ADDRESS FROM TO
        FROM tells it of a better gateway for one, TO
route.py full FAMILY I          a packet as long as the link allows reaches backend I
route.py send FAMILY PORT       a local sender, to whom no send may fail
"""

import json
import socket
import struct
import subprocess

import frames as f
from frames import Port, expect, fail, tcp, true, udp

SRC = {4: "192.0.2.77", 6: "2001:db8:a::77"}    # nobody
N = 3


class Segment:
    """The segment, as the client and the backends see it."""

    def __init__(self, family, director="lb", dev="l0", n=N):
        self.family = family
        self.vip = f.VIP[family]
        self.director = director
        self.dev = dev
        self.cl = Port("cl", "c0")
        self.backends = [Port(f"b{i}", "e0") for i in range(1, n + 1)]
        self.mac = f.mac_of(director, dev)
        self.known = {}
        self.service = {"tcp": f"web{family}", "udp": f"dns{family}"}

    def packet(self, sport, proto="tcp", dport=80, src=None, **options):
        src = src or SRC[self.family]
        if proto == "tcp":
            data = tcp(src, self.vip, sport, dport)
            return f.ip(src, self.vip, f.TCP, data, **options)
        data = udp(src, self.vip, sport, dport, b"hello")
        return f.ip(src, self.vip, f.UDP, data, **options)

    def sport_of(self, i, first):
        """The first port from FIRST on whose flow is backend I's."""
        if first not in self.known:
            flows = [("tcp", SRC[self.family], sport, self.vip, 80)
                     for sport in range(first, first + 100)]
            self.known[first] = [f.backend_of(answer["address"])
                                 for answer in f.lookup(self.director, flows)]
        return first + self.known[first].index(i)

    def to_vip(self, frame):
        return (frame.ip.dst == self.vip and not frame.ip.off and
                frame.ip.proto in (f.TCP, f.UDP))

    def arrivals(self, ports, marker):
        """What arrived for the service address at any of PORTS before the
        packet from port MARKER, which has been sent behind all others."""
        def last(frame):
            return self.to_vip(frame) and frame.ip.ports()[0] == marker
        found = []
        port, _ = f.catch_any(
            ports, lambda frame: last(frame) or self.to_vip(frame) and
            found.append(frame))
        true("the marker arrives", port)
        for port in ports:
            while frame := port.next(0):
                if frame.ip and self.to_vip(frame) and not last(frame):
                    found.append(frame)
        return found

    def warm(self):
        """A packet to each backend, so that its neighbour is known; and reachable,
        or the module's fast path would leave what follows to the slow one."""
        for i, port in enumerate(self.backends, 1):
            sport = self.sport_of(i, 30000)
            self.cl.send_ip(self.mac, self.packet(sport))
            true(f"b{i} is reached", port.catch(self.to_vip))
        subprocess.run(["ip", "-n", f.NETNS[self.director], "-b", "-"], check=True,
                       text=True, input="".join(
            f"neigh replace {f.backend(self.family, i)} lladdr {port.mac.hex(':')} "
            f"dev {self.dev} nud reachable\n"
            for i, port in enumerate(self.backends, 1)))
        for port in (self.cl, *self.backends):
            port.drain()

    def none(self, packets, counted, what, service=None, send=None):
        """None of these reaches a backend; so many are counted as dropped."""
        service = service or self.service["tcp"]
        before = f.drops(self.director, service)
        for packet in packets:
            (send or self.cl.send_ip)(self.mac, packet)
        self.cl.send_ip(self.mac, self.packet(31999))
        for frame in self.arrivals(self.backends, 31999):
            fail(f"{what} is sent on: {frame.ip}")
        expect(f"{what}: drops", f.drops(self.director, service) - before, counted)


def kinds(segment):
    """Packets of all sorts, as (NAME, PROTO, SPORT, PACKET)."""
    family, vip, src = segment.family, segment.vip, SRC[segment.family]
    sport = 20000

    def made(name, proto, data, **options):
        nonlocal sport
        number = f.TCP if proto == "tcp" else f.UDP
        kind = options.pop("kind", number)
        packet = f.ip(src, vip, kind, data(sport), **options)
        sport += 1
        return name, proto, sport - 1, packet

    yield made("SYN", "tcp", lambda s: tcp(src, vip, s, 80))
    yield made("SYN with options", "tcp", lambda s: tcp(
        src, vip, s, 80, options=b"\2\4\5\xb4\4\2\x08\x0a\0\0\0\1\0\0\0\0\1\3\3\7"))
    yield made("mid-flow", "tcp", lambda s: tcp(
        src, vip, s, 80, f.ACK | f.PSH, 5, 6, b"x" * 1001))
    yield made("RST", "tcp", lambda s: tcp(src, vip, s, 80, f.RST))
    yield made("odd", "udp", lambda s: udp(src, vip, s, 53, b"x"))
    yield made("empty", "udp", lambda s: udp(src, vip, s, 53))
    yield made("full", "udp", lambda s: udp(
        src, vip, s, 53, bytes(i & 255 for i in range(1452 - 20 * (family == 6)))))
    yield made("marked", "udp", lambda s: udp(src, vip, s, 53, b"y"), tos=0xbb)
    yield made("TTL 2", "tcp", lambda s: tcp(src, vip, s, 80), ttl=2)
    yield made("TTL 255", "tcp", lambda s: tcp(src, vip, s, 80), ttl=255)
    # Who has the sum wrong is found out at the end, not here.
    yield made("wrong sum", "tcp",
               lambda s: tcp(src, vip, s, 80)[:-4] + b"\x12\x34\0\0")
    if family == 4:
        yield made("identified", "tcp", lambda s: tcp(src, vip, s, 80), ident=0xfeed)
        yield made("DF", "udp", lambda s: udp(src, vip, s, 53, b"z"), df=True, ident=7)
        yield made("no sum", "udp", lambda s: udp(src, vip, s, 53, b"z")[:6] + b"\0\0z")
    else:
        yield made("labelled", "tcp", lambda s: tcp(src, vip, s, 80), flow=0xabcde)
        yield made("options", "udp", lambda s: f.destination_options(f.UDP) +
                   udp(src, vip, s, 53, b"z"), kind=f.DSTOPTS)
        yield made("more options", "tcp",
                   lambda s: f.destination_options(f.DSTOPTS) +
                   f.destination_options(f.TCP, 24) + tcp(src, vip, s, 80),
                   kind=f.HOPOPTS)


def forwarded(packet):
    """What routing would make of it."""
    if packet[0] >> 4 == 6:
        return packet[:7] + bytes([packet[7] - 1]) + packet[8:]
    head = packet[:8] + bytes([packet[8] - 1, packet[9], 0, 0]) + packet[12:20]
    return head[:10] + struct.pack("!H", f.checksum(head)) + head[12:] + packet[20:]


def untouched(family):
    segment = Segment(int(family))
    all_kinds = list(kinds(segment))
    flows = [(proto, SRC[segment.family], sport, segment.vip,
              80 if proto == "tcp" else 53) for _, proto, sport, _ in all_kinds]
    owners = [f.backend_of(answer["address"]) for answer in f.lookup("lb", flows)]
    true("all backends are concerned", len(set(owners)) == N)
    before = {s: f.stats("lb", s)["packets"] for s in segment.service.values()}
    for (name, _, sport, packet), owner in zip(all_kinds, owners):
        segment.cl.send_ip(segment.mac, packet)
        port, frame = f.catch_any(segment.backends, lambda frame: segment.to_vip(frame) and
                                  frame.ip.ports()[0] == sport)
        if not true(f"{name} arrives", frame):
            continue
        expect(f"{name}: backend", port.name, f"b{owner}")
        expect(f"{name}: frame to", frame.dst, port.mac)
        expect(f"{name}: frame from", frame.src, segment.mac)
        expect(f"{name}: bytes", frame.ip.whole.hex(), forwarded(packet).hex())
    for proto, service in segment.service.items():
        expect(f"packets of {service}", f.stats("lb", service)["packets"] - before[service],
               sum(kind[1] == proto for kind in all_kinds))


def martian(family):
    segment = Segment(int(family))
    segment.warm()
    known = f.stats("lb", segment.service["tcp"])["drops"]["martian"]
    if segment.family == 4:
        sources = ["127.0.0.1", "0.0.0.0", "224.0.0.9", "255.255.255.255"]
    else:
        # What else is wrong IPv6 itself does not let in.
        sources = ["::"]
    # The service address itself, and that of another service.
    other = "203.0.113.81" if segment.family == 4 else "2001:db8:f::81"
    f.ctl("lb", "service", "add", "other", "udp", f.endpoint(other, 9), "mode", "route")
    for sport, src in enumerate((*sources, segment.vip, other), 21000):
        segment.none([segment.packet(sport, src=src)], 1, f"from {src}")
        expect("as martians", f.stats("lb", segment.service["tcp"])["drops"]["martian"],
               1 + sport - 21000 + known)
    f.ctl("lb", "service", "del", "other")


def fib(family):
    """The rule of chctl(8) for sources that only a route tells."""
    segment = Segment(int(family))
    segment.warm()
    own = "192.0.2.1" if segment.family == 4 else "2001:db8:a::1"
    nowhere = "10.9.9.9" if segment.family == 4 else "2001:db8:9::9"
    for sport, src in enumerate((own, nowhere), 21100):
        segment.none([segment.packet(sport, src=src)], 0, f"from {src}")


def ttl(family):
    segment = Segment(int(family))
    segment.warm()
    packet = segment.packet(22000, src=f.CL[segment.family], ttl=1)
    before = f.stats("lb", segment.service["tcp"])["packets"]
    segment.cl.send_ip(segment.mac, packet)
    kind = f.ICMP if segment.family == 4 else f.ICMPV6
    reply = segment.cl.catch(lambda frame: frame.ip.proto == kind and
                             frame.ip.data[0] == (11 if kind == f.ICMP else 3))
    if true("time exceeded", reply):
        expect("code", reply.ip.data[1], 0)
        expect("to", reply.ip.dst, f.CL[segment.family])
        true("from an address that the client knows", reply.ip.src in
             (segment.vip, "192.0.2.1", "2001:db8:a::1"))
        true("sums", reply.ip.good() and reply.ip.header_good())
        quote = reply.ip.data[8:]
        expect("quoted", quote.hex(), packet[:len(quote)].hex())
        true("long enough", len(quote) >= 28)
    segment.cl.send_ip(segment.mac, segment.packet(31999))
    for frame in segment.arrivals(segment.backends, 31999):
        fail(f"sent on: {frame.ip}")
    expect("packets", f.stats("lb", segment.service["tcp"])["packets"] - before, 1)


def options():
    """Carried on, or dropped and counted; a route that the sender chooses is not
    taken in any case."""
    segment = Segment(4)
    segment.warm()
    record = bytes([7, 7, 4, 0, 0, 0, 0, 0])
    loose = bytes([131, 7, 4, 10, 9, 9, 9, 0])
    for name, option in ("record route", record), ("loose source route", loose):
        before = f.drops("lb", "web4")
        segment.cl.send_ip(segment.mac, segment.packet(23000, options=option))
        segment.cl.send_ip(segment.mac, segment.packet(31999))
        found = segment.arrivals(segment.backends, 31999)
        dropped = f.drops("lb", "web4") - before
        expect(f"{name}: arrived and dropped", len(found) + dropped, 1)
        for frame in found:
            true(f"{name}: sums", frame.ip.header_good() and frame.ip.good())
            expect("ports", frame.ip.ports(), (23000, 80))


def routed():
    """A routing header with segments left, of any type, whole and in fragments, is
    counted and goes nowhere; one that is used up is carried on."""
    segment = Segment(6)
    segment.warm()

    def made(kind, left, sport, fragment=b""):
        data = tcp(SRC[6], segment.vip, sport, 80)
        # An address that a segment could be, behind type, segments left and flags.
        way = struct.pack("!BBBBI", f.FRAGMENT if fragment else f.TCP, 2, kind, left, 0)
        way += f.packed(f.backend(6, 1)) + fragment
        return f.ip(SRC[6], segment.vip, f.ROUTING, way + data)

    for sport, kind in enumerate((0, 2, 4, 253), 23100):
        segment.none([made(kind, 1, sport)], 1, f"a routing header of type {kind}")
    # The last fragment of a datagram: the header stands before each of them. Which
    # service of the address it is for nobody can tell; one of them counts it, of all
    # that the script has left there.
    def dropped():
        return sum(sum(service["drops"].values())
                   for service in json.loads(f.ctl("lb", "-j", "stats")))

    before = dropped()
    later = struct.pack("!BBHI", f.TCP, 0, 64, 7)
    segment.cl.send_ip(segment.mac, made(4, 1, 23110, later))
    segment.cl.send_ip(segment.mac, segment.packet(31999))
    expect("fragments that arrive", len(segment.arrivals(segment.backends, 31999)), 0)
    expect("a fragment with a routing header: drops", dropped() - before, 1)
    before = f.drops("lb", "web6")
    segment.cl.send_ip(segment.mac, made(4, 0, 23111))
    true("one that is used up arrives", f.catch_any(
        segment.backends, lambda frame: segment.to_vip(frame) and
        frame.ip.ports()[0] == 23111)[0])
    expect("drops", f.drops("lb", "web6"), before)


def policy(family):
    """Policies of IPsec: of what is forwarded, and as the service address is the
    director's own, of what comes in."""
    segment = Segment(int(family))
    segment.warm()
    src = "192.0.2.99" if segment.family == 4 else "2001:db8:a::99"

    def xfrm(*words):
        subprocess.run(["ip", "-n", f.NETNS["lb"], "xfrm", "policy", *words], check=True)

    def passes(what, count):
        # A change of policies has routes looked up anew, which is the slow path's.
        segment.warm()
        before = f.stats("lb", segment.service["tcp"])["drops"]
        segment.cl.send_ip(segment.mac, segment.packet(21200, src=src))
        segment.cl.send_ip(segment.mac, segment.packet(31999))
        expect(f"{what}: arrived", len(segment.arrivals(segment.backends, 31999)), count)
        drops = f.stats("lb", segment.service["tcp"])["drops"]
        before["ipsec_policy"] = before.get("ipsec_policy", 0) + 1 - count
        expect(f"{what}: drops", drops, before)

    esp = ("tmpl", "proto", "esp", "mode", "transport", "level")
    for way in "fwd", "in":
        chosen = ("src", src, "dst", segment.vip, "dir", way)
        xfrm("add", *chosen, *esp, "required")
        passes(f"{way}, required", 0)
        xfrm("update", *chosen, *esp, "use")
        passes(f"{way}, not required", 1)
        xfrm("update", *chosen, "action", "block")
        passes(f"{way}, blocked", 0)
        xfrm("flush")
        passes(f"{way}, flushed", 1)
    xfrm("add", "src", SRC[segment.family], "dst", segment.vip, "dir", "fwd")
    xfrm("setdefault", "fwd", "block")
    passes("fwd, blocked by default", 0)
    xfrm("setdefault", "fwd", "accept")
    xfrm("flush")


def cast(family):
    segment = Segment(int(family))
    segment.warm()
    packet = segment.packet(24000)
    group = b"\x01\x00\x5e\0\0\x01" if segment.family == 4 else b"\x33\x33\0\0\0\x01"
    for mac in b"\xff" * 6, group:
        # Each backend's own link is given it by the switch, in any case.
        segment.cl.send_ip(mac, packet)
        segment.cl.send_ip(segment.mac, segment.packet(31999))
        for frame in segment.arrivals(segment.backends, 31999):
            true(f"steered: {frame.ip}", frame.dst == mac)


def shown(segment):
    return f.json.loads(f.ctl("lb", "-j", "backend", "show", segment.service["tcp"]))


def looped(family):
    segment = Segment(int(family))
    segment.warm()
    ident = {"ident": 0x4711} if segment.family == 4 else {}
    again = segment.packet(25500, ttl=20, **ident)
    less = segment.packet(25500, ttl=17, **ident)
    more = segment.packet(25501, ttl=19, **ident)
    before = f.stats("lb", segment.service["tcp"])["drops"]["looped"]
    # The first two are a packet and its retransmission; the last a traceroute's.
    for packet in again, again, less, segment.packet(25501, ttl=18, **ident), more:
        segment.cl.send_ip(segment.mac, packet)
    segment.cl.send_ip(segment.mac, segment.packet(31999))
    found = segment.arrivals(segment.backends, 31999)
    expect("arrived", sorted((frame.ip.ports()[0], frame.ip.ttl) for frame in found),
           [(25500, 19), (25500, 19), (25501, 17), (25501, 18)])
    expect("looped", f.stats("lb", segment.service["tcp"])["drops"]["looped"] - before, 1)


def scope():
    segment = Segment(6)
    segment.warm()
    mac = segment.cl.mac
    src = f.text(f.packed("fe80::")[:8] + bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" +
                 mac[3:])
    segment.cl.send_ip(segment.mac, segment.packet(25600, src=src))
    _, frame = f.catch_any(segment.backends, lambda frame: segment.to_vip(frame) and
                           frame.ip.src == src)
    true("on the same link it arrives", frame)
    before = f.stats("lb", "scope6")["drops"]["scope"]
    packet = segment.packet(25601, "udp", 86, src=src)
    segment.cl.send_ip(segment.mac, packet)
    reply = segment.cl.catch(lambda frame: frame.ip.proto == f.ICMPV6 and
                             frame.ip.data[0] == 1)
    if true("destination unreachable", reply):
        expect("beyond scope of source address", reply.ip.data[1], 2)
        expect("to", reply.ip.dst, src)
        true("sum", reply.ip.good())
        expect("quoted", reply.ip.data[8:].hex(), packet.hex())
    expect("scope", f.stats("lb", "scope6")["drops"]["scope"] - before, 1)


def back(family):
    """From the backend's own address on the link, as from a backend that is a
    director too, or that does not hold the service address and has a route."""
    segment = Segment(int(family))
    segment.warm()
    before = shown(segment)
    for i, port in enumerate(segment.backends, 1):
        sport = segment.sport_of(i, 25000)
        segment.none([segment.packet(sport)], 1, f"a packet of b{i}",
                     send=port.send_ip)
    # Or from a client behind its address, which others are not.
    for old, new in zip(before, shown(segment)):
        expect("sent back", new["sent_back"] - old["sent_back"], 1)
        expect("why", new["why"], "shares a MAC address with clients")
        expect("reachable", new["reachable"], True)
    other = segment.sport_of(2, 25000)
    segment.backends[0].send_ip(segment.mac, segment.packet(other))
    true("to another backend it is sent", segment.backends[1].catch(segment.to_vip))


def nowhere(family, dport):
    segment = Segment(int(family))
    segment.warm()
    service, = (s["name"] for s in f.json.loads(f.ctl("lb", "-j", "service", "show"))
                if s["port"] == int(dport) and s["address"] == segment.vip and
                s["proto"] == "tcp")
    lb = Port("lb", "l0")
    segment.none([segment.packet(26000, dport=int(dport))], 1, "it", service=service)
    segment.cl.send_ip(segment.mac, segment.packet(31998))
    seen = lb.until(segment.to_vip, lambda frame: segment.to_vip(frame) and
                    frame.ip.ports()[0] == 31998)
    expect("frames to the director", [frame.ip.ports()[0] for frame in seen],
           [26000, 31999])


def between(family, dport):
    segment = Segment(int(family))
    segment.warm()
    service = f"loop{family}"
    ports = {name: Port(name, "l0") for name in ("lb", "lb2")}
    before = sum(f.drops(name, service) for name in ports)
    count = 5
    for i in range(count):
        segment.cl.send_ip(segment.mac, segment.packet(27000 + i, dport=int(dport)))
    true("the other director is reached", ports["lb2"].catch(
        lambda frame: segment.to_vip(frame) and frame.ip.ports()[0] == 27000 + count - 1))
    # By both directors, so behind whatever they still send each other.
    mac = f.mac_of("lb2", "l0")
    for _ in range(70):
        segment.cl.send_ip(segment.mac, segment.packet(31998))
        segment.cl.send_ip(mac, segment.packet(31998))
    segment.cl.send_ip(segment.mac, segment.packet(31999))
    seen = ports["lb"].until(
        lambda frame: segment.to_vip(frame) and frame.ip.ports()[1] == int(dport),
        lambda frame: segment.to_vip(frame) and frame.ip.ports()[0] == 31999)
    expect("frames to the first", len(seen), count)
    expect("drops", sum(f.drops(name, service) for name in ports) - before, count)


def arrives(family, i):
    """Whether the backend wants it or not."""
    segment = Segment(int(family))
    port = segment.backends[int(i) - 1]
    before = f.stats("lb", segment.service["tcp"])["packets"]
    packet = segment.packet(segment.sport_of(int(i), 28000))
    segment.cl.send_ip(segment.mac, packet)
    frame = port.catch(segment.to_vip)
    if true("it arrives", frame):
        expect("to", frame.dst, port.mac)
        expect("bytes", frame.ip.whole.hex(), forwarded(packet).hex())
    expect("packets", f.stats("lb", segment.service["tcp"])["packets"] - before, 1)


def answers(family):
    """ARP, and neighbour solicitation: nobody but who does so without the
    module, which is the director for IPv4."""
    cl, vip = Port("cl", "c0"), f.VIP[int(family)]
    # Asked last, and there for certain: its answer ends the wait.
    certain = {"4": "192.0.2.1", "6": "2001:db8:a::1"}[family]
    for target in vip, certain:
        if family == "4":
            cl.send(b"\xff" * 6 + cl.mac + struct.pack("!H", f.ETH_P_ARP) + struct.pack(
                "!HHBBH6s4s6s4s", 1, f.ETH_P_IP, 6, 4, 1, cl.mac, f.packed(f.CL[4]),
                bytes(6), f.packed(target)))
        else:
            low = f.packed(target)[-3:]
            group = f.text(f.packed("ff02::1:ff00:0")[:13] + low)
            message = struct.pack("!BBHI16sBB6s", 135, 0, 0, 0, f.packed(target), 1, 1,
                                  cl.mac)
            message = f.transport_sum(f.CL[6], group, f.ICMPV6, message, 2)
            cl.send_ip(b"\x33\x33\xff" + low,
                       f.ipv6(f.CL[6], group, f.ICMPV6, message, ttl=255))
    claims = {vip: [], certain: []}
    while not claims[certain]:
        frame = cl.next(f.TIMEOUT)
        if not true("an answer", frame):
            return
        if family == "4" and frame.kind == f.ETH_P_ARP and frame.data[20:22] == b"\0\2":
            claims.get(f.text(frame.data[28:32]), []).append(frame.data[22:28])
        elif frame.ip and frame.ip.proto == f.ICMPV6 and frame.ip.data[0] == 136:
            claims.get(f.text(frame.ip.data[8:24]), []).append(frame.src)
    lb = f.mac_of("lb", "l0")
    expect("who has the service address", [mac.hex() for mac in claims[vip]],
           [lb.hex()] if family == "4" else [])


def bridge(family):
    segment = Segment(int(family), "sw", "br0")
    count = 30
    # Between client and backend, past the director.
    for sport in range(29000, 29000 + count):
        port = segment.backends[sport % N]
        packet = segment.packet(sport)
        segment.cl.send_ip(port.mac, packet)
        got, frame = f.catch_any(segment.backends, lambda frame: segment.to_vip(frame) and
                                 frame.ip.ports()[0] == sport)
        if true("what is merely bridged arrives", frame):
            expect("at", got.name, port.name)
            expect("as it was", frame.ip.whole.hex(), packet.hex())
            expect("from", frame.src, segment.cl.mac)
    expect("packets", f.stats("sw", segment.service["tcp"])["packets"], 0)
    # To the director, which is the bridge.
    flows = [("tcp", SRC[segment.family], sport, segment.vip, 80)
             for sport in range(29100, 29100 + count)]
    for (_, _, sport, _, _), answer in zip(flows, f.lookup("sw", flows)):
        packet = segment.packet(sport)
        segment.cl.send_ip(segment.mac, packet)
        got, frame = f.catch_any(segment.backends, lambda frame: segment.to_vip(frame) and
                                 frame.ip.ports()[0] == sport)
        if true("what is for the director is steered", frame):
            expect("to", got.name, f"b{f.backend_of(answer['address'])}")
            expect("bytes", frame.ip.whole.hex(), forwarded(packet).hex())
            expect("from", frame.src, segment.mac)
    expect("packets", f.stats("sw", segment.service["tcp"])["packets"], count)


def tell(family, dst, kind, word, src):
    """An ICMP error about a packet from the director's own address to DST."""
    own = {4: "198.51.100.1", 6: "2001:db8:b::1"}[family]
    cl = Port("cl", "c0")
    if family == 4:
        # A reply, which has no socket that would be told instead of the route.
        quote = f.ipv4(own, dst, f.ICMP, struct.pack("!BBHHH", 0, 0, 0, 1, 1))
        message = struct.pack("!BBH", *kind, 0) + word + quote
        message = message[:2] + struct.pack("!H", f.checksum(message)) + message[4:]
        packet = f.ipv4(src, own, f.ICMP, message)
    else:
        quote = f.ipv6(own, dst, f.ICMPV6, struct.pack("!BBHHH", 128, 0, 0, 1, 1))
        message = f.transport_sum(src, own, f.ICMPV6,
                                  struct.pack("!BBH", *kind, 0) + word + quote, 2)
        packet = f.ipv6(src, own, f.ICMPV6, message)
    cl.send_ip(f.mac_of("lb", "l0"), packet)


def frag_needed(family, dst, mtu):
    family = int(family)
    tell(family, dst, (3, 4) if family == 4 else (2, 0), struct.pack("!I", int(mtu)),
         SRC[family])


def redirect(dst, src, to):
    tell(4, dst, (5, 1), f.packed(to), src)


def full(family, i):
    family = int(family)
    segment = Segment(family)
    sport = segment.sport_of(int(i), 30500)
    head = 40 if family == 4 else 60
    data = tcp(SRC[family], segment.vip, sport, 80, f.ACK, data=bytes(1500 - head))
    packet = f.ip(SRC[family], segment.vip, f.TCP, data,
                  **({"df": True} if family == 4 else {}))
    segment.cl.send_ip(segment.mac, packet)
    frame = segment.backends[int(i) - 1].catch(segment.to_vip)
    if true("a full packet arrives", frame):
        expect("bytes", frame.ip.whole.hex(), forwarded(packet).hex())


def send(family, dport):
    kind = socket.AF_INET if family == "4" else socket.AF_INET6
    sock = f.socket_in("lb", kind, socket.SOCK_DGRAM)
    for _ in range(3):
        try:
            sock.sendto(b"x", (f.VIP[int(family)], int(dport)))
        except OSError as e:
            # An answer to an earlier one is no failure of this one.
            true(f"sendto: {e}", e.errno in (111, 113))


if __name__ == "__main__":
    f.main({"untouched": untouched, "martian": martian, "ttl": ttl, "options": options,
            "routed": routed, "fib": fib, "policy": policy,
            "cast": cast, "back": back, "nowhere": nowhere, "between": between,
            "arrives": arrives, "answers": answers, "bridge": bridge, "send": send,
            "looped": looped, "scope": scope,
            "frag_needed": frag_needed, "redirect": redirect, "full": full})
