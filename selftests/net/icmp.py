#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Looks at ICMP errors, and makes some.

icmp.py probe ADDRESS PORT [SIZE]
        sends a datagram from a connected socket and prints, as KEY=VALUE
        words, which error the socket gets and what the ICMP error is like
        that comes for it: error sport type code from qsrc qdst qsport qdport
        sums (of the message, IPv4 only; of the quoted header, IPv4 only)
icmp.py send TYPE CODE ADDRESS PORT SPORT [PROTO] [INFO] [LENGTH]
        sends to ADDRESS an error that quotes a packet from ADDRESS, PORT to
        the own address, SPORT; INFO is the word after the checksum (an MTU),
        LENGTH what is quoted of the transport header
"""

import errno
import select
import socket
import struct
import sys
import time

TIMEOUT = 8
PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def raw(family):
    if family == socket.AF_INET6:
        return socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    return socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMP)


def quote_v4(message):
    head = message[8:]
    size = (head[0] & 15) * 4
    ports = struct.unpack("!HH", head[size:size + 4])
    good = checksum(message) == 0 and checksum(head[:size]) == 0
    return (socket.inet_ntop(socket.AF_INET, head[12:16]),
            socket.inet_ntop(socket.AF_INET, head[16:20]), *ports, good)


def quote_v6(message):
    # A raw ICMPv6 socket is given only what has a right checksum.
    head = message[8:]
    ports = struct.unpack("!HH", head[40:44])
    return (socket.inet_ntop(socket.AF_INET6, head[8:24]),
            socket.inet_ntop(socket.AF_INET6, head[24:40]), *ports, True)


def probe(address, port, size=8):
    family = family_of(address)
    listener = raw(family)
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.connect((address, int(port)))
    sport = sock.getsockname()[1]
    sock.send(b"x" * int(size))
    sock.settimeout(TIMEOUT)
    name = "none"
    try:
        sock.recv(100)
    except socket.timeout:
        name = "timeout"
    except OSError as e:
        name = errno.errorcode[e.errno]
    print(f"error={name} sport={sport}", end=" ")

    end = time.monotonic() + TIMEOUT
    while select.select([listener], [], [], max(0, end - time.monotonic()))[0]:
        message, peer = listener.recvfrom(65536)
        if family == socket.AF_INET:
            message = message[(message[0] & 15) * 4:]
            errors = (3, 4, 5, 11, 12)
        else:
            errors = (1, 2, 3, 4)
        if message[0] not in errors:
            continue
        quote = quote_v4 if family == socket.AF_INET else quote_v6
        src, dst, qsport, qdport, good = quote(message)
        if qsport != sport:
            print(f"(about port {qsport})", end=" ")
            continue
        print(f"type={message[0]} code={message[1]} from={peer[0]} qsrc={src} "
              f"qdst={dst} qsport={qsport} qdport={qdport} "
              f"sums={'good' if good else 'bad'}")
        return
    print("type=none")


def own_address(address, port):
    with socket.socket(family_of(address), socket.SOCK_DGRAM) as sock:
        sock.connect((address, port))
        return sock.getsockname()[0]


def send(kind, code, address, port, sport, proto="udp", info=0, length=8):
    family = family_of(address)
    number, port, sport = PROTOCOLS[proto], int(port), int(sport)
    src = socket.inet_pton(family, address)
    dst = socket.inet_pton(family, own_address(address, port))
    # Ports, then for UDP a length and for TCP a sequence number.
    transport = struct.pack("!HHHH", port, sport, 16, 0) + bytes(64)
    if family == socket.AF_INET:
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 36, 1, 0x4000, 60, number,
                           0, src, dst)
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    else:
        head = struct.pack("!IHBB16s16s", 0x60000000, 16, number, 60, src, dst)
    message = struct.pack("!BBHI", int(kind), int(code), 0, int(info))
    message += head + transport[:int(length)]
    if family == socket.AF_INET:
        message = (message[:2] + struct.pack("!H", checksum(message)) +
                   message[4:])
    sock = raw(family)          # of ICMPv6 the kernel fills in the checksum
    sock.sendto(message, (address, 0))


def main():
    commands = {"probe": probe, "send": send}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
