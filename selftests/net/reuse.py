#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Many short connections from few source ports.

usage: reuse.py ADDRESS PORT FIRST-SPORT SPORTS COUNT HOW

Each asks a server of whoami.py who it is. HOW it ends: "server" closes first
(so that the client may use the port again at once), "client" closes first (the
port is in TIME_WAIT then), it is "reset" by the client or "aborted" by the server,
it is reset and an ACK comes "late", or "half=FIFO": the server closes, and the
client only when something comes out of FIFO. Of several, with commas, each in
turn. Prints a line a connection,

    SPORT BACKEND

or, for one that failed, SPORT and the error.
"""

import errno
import socket
import struct
import sys


def connect(family, sport, peer):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(20)
    sock.bind(("", sport))
    sock.connect(peer)
    return sock


def ask(sock, how):
    theirs = how == "server" or how.startswith("half=")
    sock.send(b"x\nclose\n" if theirs else b"x\n")
    name = sock.recv(200).split()[0].decode()
    if theirs:
        while sock.recv(200):
            pass
    elif how == "aborted":
        sock.send(b"reset\n")
        try:
            sock.recv(200)
        except ConnectionResetError:
            pass
    elif how in ("reset", "late"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
    return name


def late_ack(family, ours, theirs):
    """An ACK of a connection that is gone, as one that was held up."""
    data = struct.pack("!HHLLBBHHH", ours[1], theirs[1], 1, 1, 5 << 4, 0x10,
                       1000, 0, 0)
    pseudo = (socket.inet_pton(family, ours[0]) +
              socket.inet_pton(family, theirs[0]) +
              struct.pack("!LL", len(data), socket.IPPROTO_TCP))
    total = sum(struct.unpack("!%dH" % ((len(pseudo) + len(data)) // 2),
                              pseudo + data))
    total = (total & 0xffff) + (total >> 16)
    total = ~((total & 0xffff) + (total >> 16)) & 0xffff
    data = data[:16] + struct.pack("!H", total) + data[18:]
    with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP) as sock:
        sock.bind((ours[0], 0))
        sock.sendto(data, (theirs[0], 0))


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    address, hows = sys.argv[1], sys.argv[6].split(",")
    port, first, sports, count = map(int, sys.argv[2:6])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for i in range(count):
        sport = first + i % sports
        how = hows[i % len(hows)]
        try:
            sock = connect(family, sport, (address, port))
            print(sport, ask(sock, how), flush=True)
            if how.startswith("half="):
                with open(how[5:], encoding="ascii") as fifo:
                    fifo.readline()
            ours = sock.getsockname()
            sock.close()
            if how == "late":
                late_ack(family, ours, (address, port))
        except OSError as e:
            print(sport, errno.errorcode.get(e.errno, e))


if __name__ == "__main__":
    main()
