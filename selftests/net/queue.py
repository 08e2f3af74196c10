#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Lets every packet of an nfnetlink queue go on, from this process.

usage: queue.py NUMBER

Prints "bound", and then a line a packet: the hook that it came from.
"""

import socket
import struct
import sys

NETLINK_NETFILTER, NFNL_SUBSYS_QUEUE = 12, 3
PACKET, VERDICT, CONFIG = 0, 1, 2
CFG_CMD, CFG_PARAMS, CMD_BIND, COPY_META = 1, 2, 1, 1
PACKET_HDR, VERDICT_HDR, NF_ACCEPT = 1, 2, 1
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2


def request(number, kind, flags, attr, value):
    body = struct.pack("!BBH", socket.AF_UNSPEC, 0, number)
    body += struct.pack("=HH", 4 + len(value), attr) + value
    body += bytes(-len(body) % 4)
    return struct.pack("=IHHII", 16 + len(body), NFNL_SUBSYS_QUEUE << 8 | kind,
                       NLM_F_REQUEST | flags, 0, 0) + body


def configure(sock, number, attr, value):
    sock.send(request(number, CONFIG, NLM_F_ACK, attr, value))
    kind, error = struct.unpack_from("=4xH10xi", sock.recv(4096))
    if kind != NLMSG_ERROR or error:
        sys.exit(f"queue {number} cannot be had: {error}")


def packet(data):
    """Its number and hook."""
    at = 20
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if kind == PACKET_HDR:
            return struct.unpack_from("!IHB", data, at + 4)[::2]
        at += (length + 3) & ~3
    sys.exit("a packet without a header")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    number = int(sys.argv[1])
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind((0, 0))
    configure(sock, number, CFG_CMD, struct.pack("!BBH", CMD_BIND, 0, 0))
    configure(sock, number, CFG_PARAMS, struct.pack("!IB", 0, COPY_META))
    print("bound", flush=True)
    while True:
        data = sock.recv(65536)
        while data:
            length, kind = struct.unpack_from("=IH", data)
            if kind == NFNL_SUBSYS_QUEUE << 8 | PACKET:
                ident, hook = packet(data[:length])
                sock.send(request(number, VERDICT, 0, VERDICT_HDR,
                                  struct.pack("!II", NF_ACCEPT, ident)))
                print(hook, flush=True)
            data = data[(length + 3) & ~3:]


if __name__ == "__main__":
    main()
