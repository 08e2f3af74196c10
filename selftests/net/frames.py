#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Frames on the wire: made, sent, caught and taken apart.

A module for the other scripts here. Namespaces are those of the running test,
which chs_frames of direct.sh hands over in CHS_NETNS, as NAME=NETNS words. The
addresses are those of lib.sh.

To see that something does not arrive, what must arrive is sent behind it; so
that they keep their order, all of a script is done by one CPU.
"""

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

TIMEOUT = 10            # seconds for what must happen; an emulated machine is slow
ETH_P_ALL = 3
ETH_HLEN = 14
ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_VLAN = 0x0800, 0x86dd, 0x0806, 0x8100
ICMP, IPIP, TCP, UDP, IPV6, FRAGMENT, ICMPV6 = 1, 4, 6, 17, 41, 44, 58
HOPOPTS, ROUTING, DSTOPTS, SCTP = 0, 43, 60, 132
EXTENSIONS = (HOPOPTS, ROUTING, DSTOPTS)
CLONE_NEWNET = 0x40000000
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23

VIP = {4: "203.0.113.80", 6: "2001:db8:f::80"}
CL = {4: "192.0.2.10", 6: "2001:db8:a::10"}
BACKENDS = {4: "198.51.100.", 6: "2001:db8:b::"}
GUE_PORT = 6080

NETNS = dict(word.split("=", 1) for word in os.environ.get("CHS_NETNS", "").split())

libc = ctypes.CDLL(None, use_errno=True)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
HOME = os.open("/proc/self/ns/net", os.O_RDONLY)


def backend(family, i):
    return f"{BACKENDS[family]}{10 + i}"


def backend_of(address):
    """The number of the backend that has this address."""
    return int(address.replace(":", ".").split(".")[-1]) - 10


# Namespaces --------------------------------------------------------------------

def setns(fd):
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def socket_in(name, *args):
    """A socket in the namespace that the test calls NAME."""
    fd = os.open(f"/run/netns/{NETNS[name]}", os.O_RDONLY)
    setns(fd)
    try:
        return socket.socket(*args)
    finally:
        setns(HOME)
        os.close(fd)


def ctl(name, *args, text=None):
    """The tool, at work on a namespace; what it prints."""
    done = subprocess.run(["chctl", "-n", NETNS[name], *args], text=True,
                          input=text, stdout=subprocess.PIPE, check=True)
    return done.stdout


def endpoint(address, port):
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def lookup(name, flows, established=False):
    """The answers for flows (PROTO, SRC, SPORT, DST, DPORT), as dictionaries."""
    text = "".join(
        f"lookup {proto} {endpoint(src, sport)} {endpoint(dst, dport)}"
        f"{' established' if established else ''}\n"
        for proto, src, sport, dst, dport in flows)
    answers, decoder, at = [], json.JSONDecoder(), 0
    output = ctl(name, "-j", "-b", "-", text=text).strip()
    while at < len(output):
        answer, at = decoder.raw_decode(output, at)
        answers.append(answer)
        while at < len(output) and output[at].isspace():
            at += 1
    assert len(answers) == len(flows)
    return answers


def stats(name, service):
    return json.loads(ctl(name, "-j", "stats", service))[0]


def drops(name, service):
    return sum(stats(name, service)["drops"].values())


# Making ------------------------------------------------------------------------

def family_of(address):
    return 6 if ":" in address else 4


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET,
                            address)


def text(address):
    return socket.inet_ntop(socket.AF_INET6 if len(address) == 16 else
                            socket.AF_INET, address)


def checksum(data):
    if len(data) % 2:
        data = bytes(data) + b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def pseudo(src, dst, proto, length):
    if len(src) == 4:
        return src + dst + struct.pack("!BBH", 0, proto, length)
    return src + dst + struct.pack("!IHBB", length, 0, 0, proto)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def transport_sum(src, dst, proto, data, at):
    """DATA with the checksum at offset AT filled in."""
    value = checksum(pseudo(packed(src), packed(dst), proto, len(data)) + data)
    return data[:at] + struct.pack("!H", value or 0xffff) + data[at + 2:]


def udp(src, dst, sport, dport, data=b""):
    head = struct.pack("!HHHH", sport, dport, 8 + len(data), 0)
    return transport_sum(src, dst, UDP, head + data, 6)


SYN, ACK, RST, FIN, PSH = 2, 16, 4, 1, 8


def tcp(src, dst, sport, dport, flags=SYN, seq=1000, ack=0, data=b"", options=b""):
    size = 20 + len(options)
    head = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, size << 2, flags,
                       29200, 0, 0)
    return transport_sum(src, dst, TCP, head + options + data, 16)


def sctp(sport, dport, chunk, tag=0):
    head = struct.pack("!HHII", sport, dport, tag, 0)
    return (head[:8] + struct.pack("<I", crc32c(head + chunk)) + chunk)


def ipv4(src, dst, proto, data, ttl=64, tos=0, ident=0, df=False, mf=False,
         off=0, options=b""):
    size = 20 + len(options)
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | size >> 2, tos, size + len(data),
                       ident, df << 14 | mf << 13 | off >> 3, ttl, proto, 0,
                       packed(src), packed(dst)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + data


def ipv6(src, dst, proto, data, ttl=64, tos=0, flow=0):
    return struct.pack("!IHBB16s16s", 6 << 28 | tos << 20 | flow, len(data), proto,
                       ttl, packed(src), packed(dst)) + data


def ip(src, dst, proto, data, **options):
    return (ipv6 if ":" in src else ipv4)(src, dst, proto, data, **options)


def fragment_header(proto, ident, off, more):
    return struct.pack("!BBHI", proto, 0, off | more, ident)


def destination_options(proto, size=8):
    """An extension header of SIZE bytes, which holds an option that whoever does
    not know it skips. More than seven bytes of padding would be refused."""
    return struct.pack("!BBBB", proto, size // 8 - 1, 0x1e, size - 4) + bytes(size - 4)


# Taking apart ------------------------------------------------------------------

def carries_gue(proto, off, head):
    return proto == UDP and not off and head[2:4] == struct.pack("!H", GUE_PORT)


class Ip:
    """A packet of either family. proto and data are those behind extension
    headers; for fragments data is what they carry."""

    def __init__(self, data):
        self.version = data[0] >> 4
        self.extensions = []
        self.mf = self.off = 0
        if self.version == 4:
            size = (data[0] & 15) * 4
            (_, self.tos, total, self.id, frag, self.ttl, self.proto, self.sum,
             src, dst) = struct.unpack("!BBHHHBBH4s4s", data[:20])
            self.df, self.mf, self.off = frag >> 14 & 1, frag >> 13 & 1, (frag & 0x1fff) * 8
            self.reserved = frag >> 15
        else:
            size, self.df, self.id = 40, 0, None
            word, total, proto, self.ttl, src, dst = struct.unpack("!IHBB16s16s", data[:40])
            self.tos, self.flow = word >> 20 & 0xff, word & 0xfffff
            total += 40
            while proto in EXTENSIONS or proto == FRAGMENT:
                self.extensions.append(proto)
                if proto == FRAGMENT:
                    proto, _, frag, self.id = struct.unpack("!BBHI", data[size:size + 8])
                    self.mf, self.off = frag & 1, frag & 0xfff8
                    size += 8
                    if self.off:
                        break
                    continue
                proto, length = data[size], data[size + 1]
                size += (length + 1) * 8
            self.proto = proto
        if carries_gue(self.proto, self.off, data[size:size + 6]):
            # Who takes it out of UDP amends the header that others still see.
            total = size + struct.unpack("!H", data[size + 4:size + 6])[0]
        self.src, self.dst = text(src), text(dst)
        self.header, self.data = data[:size], data[size:total]
        self.whole = data[:total]

    def ports(self):
        return struct.unpack("!HH", self.data[:4])

    def header_good(self):
        return self.version == 6 or checksum(self.header) == 0

    def good(self):
        """Whether the checksum of the transport is right, and there is one."""
        if self.proto == ICMP:
            return checksum(self.data) == 0
        if self.proto == UDP and self.data[6:8] == b"\0\0":
            return False
        return checksum(pseudo(packed(self.src), packed(self.dst), self.proto,
                               len(self.data)) + self.data) == 0

    def inner(self):
        """What this one carries, bare or in UDP, or None."""
        if self.proto in (IPIP, IPV6):
            return Ip(self.data)
        if self.proto == UDP and self.ports()[1] == GUE_PORT and self.data[8] >> 4 in (4, 6):
            return Ip(self.data[8:])
        return None

    def __str__(self):
        return (f"{self.src} > {self.dst} proto {self.proto} ttl {self.ttl} tos "
                f"{self.tos:#x} id {self.id} df {self.df} mf {self.mf} off "
                f"{self.off}: {self.data[:48].hex()}")


class Frame:
    def __init__(self, data):
        self.data = data
        self.dst, self.src = data[:6], data[6:12]
        self.kind, = struct.unpack("!H", data[12:14])
        self.ip = None
        if self.kind in (ETH_P_IP, ETH_P_IPV6):
            self.ip = Ip(data[14:])


# Links -------------------------------------------------------------------------

class Port:
    """The device DEV of the namespace that the test calls NAME. Frames that it
    sends itself are not caught, unless asked for."""

    def __init__(self, name, dev, outgoing=False):
        self.name = name
        self.sock = socket_in(name, socket.AF_PACKET, socket.SOCK_RAW,
                              socket.htons(ETH_P_ALL))
        # Without the queue's limit a burst would be lost here.
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)
        self.outgoing = outgoing
        if not outgoing:
            self.sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sock.bind((dev, ETH_P_ALL))
        self.mac = self.sock.getsockname()[4]
        self.drain()

    def drain(self):
        while select.select([self.sock], [], [], 0)[0]:
            self.sock.recv(65536)

    def send(self, frame):
        self.sock.send(frame)

    def send_ip(self, mac, packet, src=None):
        kind = ETH_P_IPV6 if packet[0] >> 4 == 6 else ETH_P_IP
        self.send(mac + (src or self.mac) + struct.pack("!H", kind) + packet)

    def next(self, timeout):
        if not select.select([self.sock], [], [], timeout)[0]:
            return None
        return Frame(self.sock.recv(65536))

    def catch(self, match, timeout=TIMEOUT):
        """The first frame from now on for which MATCH is true; None if none
        comes in time. Those before it are gone."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            frame = self.next(left)
            if frame and frame.ip and match(frame):
                return frame
        return None

    def until(self, match, last, timeout=TIMEOUT):
        """All frames for which MATCH is true, up to one for which LAST is."""
        found, end = [], time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            frame = self.next(left)
            if not frame or not frame.ip:
                continue
            if last(frame):
                return found
            if match(frame):
                found.append(frame)
        fail("what must arrive does not")
        return found


def catch_any(ports, match, timeout=TIMEOUT):
    """The first frame on any of PORTS that matches: (port, frame)."""
    end = time.monotonic() + timeout
    while (left := end - time.monotonic()) > 0:
        for sock in select.select([p.sock for p in ports], [], [], left)[0]:
            port = next(p for p in ports if p.sock is sock)
            frame = Frame(sock.recv(65536))
            if frame.ip and match(frame):
                return port, frame
    return None, None


def mac_of(name, dev):
    sock = socket_in(name, socket.AF_INET, socket.SOCK_DGRAM)
    request = struct.pack("16s16x", dev.encode())
    return fcntl.ioctl(sock, 0x8927, request)[18:24]


# Verdict -----------------------------------------------------------------------

failures = 0
MANY = 6                # failures after which the rest is not worth its time


def fail(what):
    global failures
    failures += 1
    caller = sys._getframe(1)
    while caller.f_code.co_name in ("expect", "true"):
        caller = caller.f_back
    print(f"FAIL {os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno}: {what}")
    if failures == MANY:
        sys.exit("and so on")


def true(what, condition):
    if not condition:
        fail(what)
    return bool(condition)


def expect(what, got, want):
    return true(f"{what}: got {got}, expected {want}", got == want)


def main(commands):
    """Runs the command that the arguments name, or several, A+B+C, with the same
    arguments; ends with their verdict."""
    names = sys.argv[1].split("+") if len(sys.argv) > 1 else []
    if not names or not set(names) <= set(commands):
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(commands)} [ARGUMENT]...")
    for name in names:
        before = failures
        commands[name](*sys.argv[2:])
        if failures != before:
            print(f"FAIL {name}")
    sys.exit(failures != 0)
