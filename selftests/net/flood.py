#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Many packets in a short time.

flood.py syn FAMILY PORT COUNT [SEED]
        COUNT TCP SYNs, a multiple of 1024 up to 256 * 1024, from the client's
        link to the service address, each from another made-up source out of
        198.18.0.0/15 or 2001:db8:bad::/48; those of another SEED are others
flood.py ack FAMILY PORT COUNT [SEED]
        what follows each of these SYNs
flood.py udp FAMILY PORT COUNT [SEED]
        likewise COUNT datagrams

They stand in a ring that is shared with the kernel, which sends them all at one
call. Between two turns only the last byte of the source changes, and other bytes
the other way about, so that checksums stay right.
"""

import mmap
import socket
import struct

import frames as f

SLOTS, SIZE, DATA = 1024, 256, 32
PACKET_VERSION, PACKET_TX_RING, PACKET_QDISC_BYPASS = 10, 13, 20
TPACKET_V2 = 1
SEND_REQUEST = b"\1\0\0\0"


def syn(family, port, count, seed="0"):
    flood(family, count, seed, f.TCP, 7, lambda src, dst, sport: f.tcp(
        src, dst, sport, int(port), seq=255))


def ack(family, port, count, seed="0"):
    flood(family, count, seed, f.TCP, 7, lambda src, dst, sport: f.tcp(
        src, dst, sport, int(port), f.ACK, seq=511))


def udp(family, port, count, seed="0"):
    flood(family, count, seed, f.UDP, 9, lambda src, dst, sport: f.udp(
        src, dst, sport, int(port), b"\0\xff"))


def flood(family, count, seed, proto, spare, transport):
    """spare: byte of the transport header that is 255 and free to change"""
    family, turns = int(family), int(count) // SLOTS
    mac, cl = f.mac_of("lb", "l0"), f.mac_of("cl", "c0")
    sock = f.socket_in("cl", socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(f.SOL_PACKET, PACKET_VERSION, TPACKET_V2)
    sock.setsockopt(f.SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    sock.setsockopt(f.SOL_PACKET, PACKET_TX_RING,
                    struct.pack("IIII", 4096, SLOTS * SIZE // 4096, SIZE, SLOTS))
    kind = f.ETH_P_IP if family == 4 else f.ETH_P_IPV6
    sock.bind(("c0", kind))
    ring = mmap.mmap(sock.fileno(), SLOTS * SIZE)
    head = mac + cl + struct.pack("!H", kind)
    for i in range(SLOTS):
        if family == 4:
            src = f"198.{18 + int(seed) % 2}.{i & 255}.0"
            packet = f.ipv4(src, f.VIP[4], proto, transport(
                src, f.VIP[4], 1024 + i * 61), ident=255)
        else:
            src = f"2001:db8:bad:{seed}::{i & 255:x}:0"
            packet = f.ipv6(src, f.VIP[6], proto, transport(
                src, f.VIP[6], 1024 + i * 61))
        frame = head + packet
        at = i * SIZE
        ring[at + DATA:at + DATA + len(frame)] = frame
        ring[at + 4:at + 8] = struct.pack("I", len(frame))
    # Where the bytes are that change, from the beginning of the packet.
    last, others = (15, (5, 20 + spare)) if family == 4 else \
        (23, (40 + spare,))
    for turn in range(turns):
        ring[DATA + 14 + last::SIZE] = bytes([turn]) * SLOTS
        for other in others:
            ring[DATA + 14 + other::SIZE] = bytes([255 - turn]) * SLOTS
        for k in range(4):
            ring[k::SIZE] = SEND_REQUEST[k:k + 1] * SLOTS
        sock.send(b"")
    rest = sum(ring[at] for at in range(0, SLOTS * SIZE, SIZE))
    f.expect("not sent", rest, 0)


if __name__ == "__main__":
    f.main({"syn": syn, "ack": ack, "udp": udp})
