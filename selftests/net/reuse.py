#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Many short connections from few source ports.

usage: reuse.py ADDRESS PORT FIRST-SPORT SPORTS COUNT HOW

Each asks a server of whoami.py who it is. HOW it ends: "server" closes first
(so that the client may use the port again at once), "client" closes first (the
port is in TIME_WAIT then), it is "reset", or "half=FIFO": the server closes, and
the client only when something comes out of FIFO. Prints a line a connection,

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
    elif how == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
    return name


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    address, how = sys.argv[1], sys.argv[6]
    port, first, sports, count = map(int, sys.argv[2:6])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for i in range(count):
        sport = first + i % sports
        try:
            sock = connect(family, sport, (address, port))
            print(sport, ask(sock, how), flush=True)
            if how.startswith("half="):
                with open(how[5:], encoding="ascii") as fifo:
                    fifo.readline()
            sock.close()
        except OSError as e:
            print(sport, errno.errorcode.get(e.errno, e))


if __name__ == "__main__":
    main()
