#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Offloads of devices, as ethtool -K sets them.

usage: features.py FEATURE=on|off[,FEATURE=on|off...] DEVICE...

Names are those of "ethtool -k" or, with rx- and tx-, those of the kernel; a
feature that the device does not have, or keeps as it is, is an error.
"""

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
GSTRINGS, GSSET_INFO, GFEATURES, SFEATURES = 0x1b, 0x37, 0x3a, 0x3b
ETH_SS_FEATURES, LENGTH = 4, 32

sock = socket.socket()


def ethtool(dev, data):
    value = array.array("B", data)
    fcntl.ioctl(sock, SIOCETHTOOL, struct.pack("16sP16x", dev.encode(),
                                               value.buffer_info()[0]))
    return value.tobytes()


def names(dev):
    answer = ethtool(dev, struct.pack("IIQI", GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0))
    count, = struct.unpack("I", answer[16:20])
    answer = ethtool(dev, struct.pack("III", GSTRINGS, ETH_SS_FEATURES, count) +
                     bytes(count * LENGTH))
    return [answer[12 + i * LENGTH:][:LENGTH].split(b"\0")[0].decode()
            for i in range(count)]


def change(dev, wanted):
    known = names(dev)
    blocks = (len(known) + 31) // 32
    request = [[0, 0] for _ in range(blocks)]
    for name, state in wanted.items():
        bit = known.index(name)
        request[bit // 32][0] |= 1 << bit % 32
        request[bit // 32][1] |= state << bit % 32
    ethtool(dev, struct.pack("II", SFEATURES, blocks) + b"".join(
        struct.pack("II", *block) for block in request))
    answer = ethtool(dev, struct.pack("II", GFEATURES, blocks) + bytes(blocks * 16))
    for name, state in wanted.items():
        bit = known.index(name)
        _, _, active, _ = struct.unpack("IIII", answer[8 + bit // 32 * 16:][:16])
        if active >> bit % 32 & 1 != state:
            sys.exit(f"{dev}: {name} stays as it is")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wanted = {}
    for word in sys.argv[1].split(","):
        name, state = word.split("=")
        wanted[name] = state == "on"
    for dev in sys.argv[2:]:
        change(dev, wanted)


if __name__ == "__main__":
    main()
