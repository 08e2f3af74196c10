#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Requests of family chsteer, byte by byte, past the tool.

A module for the other scripts here. Numbers come from the UAPI header, so that
a test reads like the specification; what stands in an attribute is up to the
caller, right or wrong.
"""

import errno
import ipaddress
import os
import pathlib
import re
import socket
import struct

HEADER = pathlib.Path(__file__).parents[2] / "kmod/uapi/linux/chsteer.h"

NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK = 1, 2, 4
NLM_F_DUMP_INTR, NLM_F_DUMP = 0x10, 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLMSGERR_ATTR_MSG, NLMSGERR_ATTR_OFFS = 1, 2
SOL_NETLINK, NETLINK_EXT_ACK, NETLINK_CAP_ACK = 270, 11, 10
NETLINK_GET_STRICT_CHK = 12
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
CTRL_ATTR_MCAST_GROUPS = 7
NLA_F_NESTED, NLA_TYPE = 0x8000, 0x3FFF

PROTO = {"tcp": 6, "udp": 17, "sctp": 132}


def constants():
    """Every constant of the header, without its CHS_, and the names that the
    attributes of each set go by."""
    found, sets = {}, {}
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    for body in re.findall(r"enum \w*\s*{(.*?)}", text, flags=re.S):
        value, numbers = 0, {}
        for name, given in re.findall(r"(\w+)(?: = (\d+))?,?", body):
            value = int(given) if given else value
            numbers[name.removeprefix("CHS_")] = value
            value += 1
        found.update(numbers)
        last = list(numbers)[-1]
        if last.startswith("__CHS_A_"):
            prefix = last.removeprefix("__CHS_").removesuffix("MAX")
            sets[word(prefix[2:-1])] = {
                value: word(name.removeprefix(prefix))
                for name, value in numbers.items() if name != last}
    return found, sets


def word(name):
    return name.lower().replace("_", "-")


C, SETS = constants()
TOP = SETS.pop("")


def pad(data):
    return data + b"\0" * (-len(data) % 4)


def nla(kind, payload=b"", nested=False, length=None):
    """An attribute; length is what its header says, if not the truth."""
    if length is None:
        length = 4 + len(payload)
    return pad(struct.pack("=HH", length & 0xFFFF,
                           kind | (NLA_F_NESTED if nested else 0)) + payload)


def u8(value):
    return struct.pack("=B", value & 0xFF)


def u32(value):
    return struct.pack("=I", value & 0xFFFFFFFF)


def be16(value):
    return struct.pack(">H", value & 0xFFFF)


def string(value):
    return value.encode() + b"\0"


def address(value):
    return ipaddress.ip_address(value).packed


def flag(_):
    return b""


def raw(value):
    return value


ENCODE = {
    "service": dict(
        name=string, proto=u8, address=address, port=be16, port_end=be16,
        any_port=flag, mode=u8, hash=u8, points=u32, unit=u32, slots=u32,
        balance=u32, seed=raw, on_empty=u8, masquerade=u8, affinity=u8,
        window=u32, max_flows=u32, timeout=u32, gue_port=be16, source=address,
        vrf=string, forced=flag),
    "backend": dict(
        address=address, port=be16, weight=u32, state=u8, zone=string,
        deadline=u32, delete=flag),
    "flow": dict(proto=u8, saddr=address, daddr=address, sport=be16,
                 dport=be16),
}


def nest(what, **values):
    """A nest of the set `what`; a value in bytes is taken as it is."""
    body = b""
    for name, value in values.items():
        kind = C["A_%s_%s" % (what.upper(), name.upper())]
        if not isinstance(value, bytes):
            value = ENCODE[what][name](value)
        body += nla(kind, value)
    return nla(C["A_" + what.upper()], body, nested=True)


def service(name=None, proto="tcp", ep=None, **more):
    """ep: (address, port); None leaves out."""
    values = {}
    if name is not None:
        values["name"] = name
    if ep:
        values.update(proto=PROTO[proto], address=ep[0])
        if ep[1] is not None:
            values["port"] = ep[1]
    values.update(more)
    return nest("service", **values)


def backend(addr=None, port=None, **more):
    values = {}
    if addr is not None:
        values["address"] = addr
    if port is not None:
        values["port"] = port
    values.update(more)
    return nest("backend", **values)


def flow(**values):
    return nest("flow", **values)


def flags(*which):
    """Names of flags, or numbers."""
    value = 0
    for one in which:
        value |= one if isinstance(one, int) else C["FLAG_" + one.upper()]
    return nla(C["A_FLAGS"], u32(value))


def txn(number):
    return nla(C["A_TXN"], u32(number))


def arc(number):
    return nla(C["A_ARC"], u32(number))


def attributes(data):
    """(type without flags, payload, offset of the attribute) of each."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4 or at + length > len(data):
            raise ValueError("malformed attributes")
        yield kind & NLA_TYPE, data[at + 4:at + length], at
        at += (length + 3) & ~3


def parse(data):
    return {kind: payload for kind, payload, _ in attributes(data)}


def path(message, offset):
    """Names of the attributes that the one at offset is in, and its own."""
    words, table, at, end = [], TOP, 20, len(message)
    while at < end:
        length, kind = struct.unpack_from("=HH", message, at)
        kind &= NLA_TYPE
        if length < 4:
            break
        if at <= offset < at + length:
            words.append(table.get(kind, str(kind)))
            if at == offset:
                break
            table, end, at = SETS.get(words[-1], {}), at + length, at + 4
        else:
            at += (length + 3) & ~3
    return ".".join(words)


class Reply:
    """What came back: number and text of the error, messages."""

    def __init__(self):
        self.errno, self.text, self.where = 0, "", ""
        self.messages, self.interrupted, self.ended = [], False, False

    @property
    def code(self):
        if self.errno == errno.EOPNOTSUPP:
            return "EOPNOTSUPP"
        return errno.errorcode.get(self.errno, str(self.errno)) \
            if self.errno else "0"


class Genl:
    def __init__(self, family="chsteer", strict=True, timeout=20):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(timeout)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        if strict:
            self.sock.setsockopt(SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1)
        self.sock.bind((0, 0))
        self.seq, self.sent = 0, b""
        self.family, self.group = GENL_ID_CTRL, None
        reply = self.request(CTRL_CMD_GETFAMILY,
                             nla(CTRL_ATTR_FAMILY_NAME, string(family)))
        if reply.errno:
            raise OSError(reply.errno, "family " + family)
        tb = parse(reply.messages[0])
        self.family, = struct.unpack("=H", tb[CTRL_ATTR_FAMILY_ID])
        for _, one, _ in attributes(tb.get(CTRL_ATTR_MCAST_GROUPS, b"")):
            self.group, = struct.unpack("=I", parse(one)[2])

    def close(self):
        self.sock.close()

    def message(self, cmd, attrs=b"", nlflags=NLM_F_ACK, version=1):
        if isinstance(cmd, str):
            cmd = C["CMD_" + cmd.upper().replace("-", "_")]
        self.seq += 1
        body = struct.pack("=BBH", cmd, version, 0) + attrs
        return struct.pack("=IHHII", 16 + len(body), self.family,
                           NLM_F_REQUEST | nlflags, self.seq, 0) + body

    def send(self, message):
        self.sent = message
        self.sock.send(message)

    def take_ack(self, reply, head, body):
        error, = struct.unpack_from("=i", body)
        reply.errno = -error
        skip = 4
        if head[1] == NLMSG_ERROR:
            length, = struct.unpack_from("=I", body, 4)
            skip = 20 if head[2] & NLM_F_CAPPED or not error \
                else 4 + ((length + 3) & ~3)
        if not head[2] & NLM_F_ACK_TLVS:
            return
        tb = parse(body[skip:])
        text = tb.get(NLMSGERR_ATTR_MSG, b"\0")
        reply.text = text[:-1].decode(errors="replace")
        if NLMSGERR_ATTR_OFFS in tb:
            at, = struct.unpack("=I", tb[NLMSGERR_ATTR_OFFS])
            reply.where = path(self.sent, at)

    def receive(self, reply):
        """One datagram."""
        data = self.sock.recv(1 << 20)
        while data:
            head = struct.unpack_from("=IHHII", data)
            body, data = data[16:head[0]], data[(head[0] + 3) & ~3:]
            if head[3] != self.seq:
                continue
            if head[2] & NLM_F_DUMP_INTR:
                reply.interrupted = True
            if head[1] in (NLMSG_ERROR, NLMSG_DONE):
                self.take_ack(reply, head, body)
                reply.ended = True
            else:
                reply.messages.append(body[4:])

    def answer(self):
        reply = Reply()
        while not reply.ended:
            self.receive(reply)
        return reply

    def request(self, cmd, *attrs, nlflags=NLM_F_ACK):
        self.send(self.message(cmd, b"".join(attrs), nlflags))
        return self.answer()

    def dump(self, cmd, *attrs):
        return self.request(cmd, *attrs, nlflags=NLM_F_DUMP)

    def begin(self):
        reply = self.request("txn-begin")
        if reply.errno:
            raise OSError(reply.errno, reply.text)
        return struct.unpack("=I", parse(reply.messages[0])[C["A_TXN"]])[0]

    def snapshot(self):
        """All that is configured, with rings and counters; in raw messages,
        which compare faster than they are taken apart."""
        while True:
            replies = [self.dump(cmd) for cmd in ("service-get", "backend-get")]
            if not any(reply.interrupted for reply in replies):
                return [reply.messages for reply in replies]


def timeless(message):
    """A message without what changes as time goes by."""
    kind, left = C["A_BACKEND_STATUS"], C["A_BACKEND_STATUS_DEADLINE_LEFT"]
    return [(t, [a[:2] for a in attributes(payload) if a[0] != left])
            if t == kind else (t, payload)
            for t, payload, _ in attributes(message)]


def same(a, b):
    """Whether two snapshots are of the same state."""
    return a == b or all(
        sorted(map(timeless, x)) == sorted(map(timeless, y))
        for x, y in zip(a, b))


def in_netns(name):
    """Enter a network namespace by its name in ip-netns(8)."""
    import ctypes

    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, 0x40000000):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)
