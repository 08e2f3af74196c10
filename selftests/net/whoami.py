#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Servers that say who they are.

usage: whoami.py PROTO:PORT[,PROTO:PORT...] NAME=NETNS...

Listens in each namespace NETNS (a path; "." is the own one) on the wildcard
addresses of IPv4 and IPv6. Each line (TCP, SCTP) or datagram (UDP) received is
answered by one

    NAME PEER-ADDRESS PEER-PORT LOCAL-ADDRESS LOCAL-PORT RECEIVED

so that a client learns which backend it talks to and as what it is seen there.
Connections stay open until the client closes them. "GET ..." is answered like
a web server would, with NAME as the page. The word "close" alone has the server
close the connection, "reset" reset it.

Prints "ready" when all sockets listen. One process serves all namespaces, since
a process each is slow to start on an emulated machine.
"""

import ctypes
import errno
import os
import selectors
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000
FAMILIES = (socket.AF_INET,)
if os.path.exists("/proc/net/if_inet6"):
    FAMILIES += (socket.AF_INET6,)
LIMIT = 1 << 22         # longest line, bytes
IP_PKTINFO = 8

libc = ctypes.CDLL(None, use_errno=True)


def enter(netns):
    if netns == ".":
        return
    fd = os.open(netns, os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        sys.exit(f"setns {netns}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def endpoint(address):
    return f"{address[0]} {address[1]}".encode()


class Stream:
    """A connection: lines in, answers out."""

    def __init__(self, server, sock):
        self.server = server
        self.sock = sock
        self.rx = bytearray()
        self.tx = bytearray()
        self.closing = False
        self.head = b" ".join((server.name, endpoint(sock.getpeername()),
                               endpoint(sock.getsockname()), b""))

    def close(self):
        self.server.sel.unregister(self.sock)
        self.sock.close()

    def event(self, mask):
        try:
            if mask & selectors.EVENT_READ:
                data = self.sock.recv(65536)
                if not data:
                    self.close()
                    return
                self.rx += data
                if not self.lines():
                    return
            self.flush()
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def lines(self):
        *lines, self.rx = self.rx.split(b"\n")
        if len(self.rx) > LIMIT:
            self.close()
            return False
        for line in lines:
            if line == b"close":
                self.closing = True
            elif line == b"reset":
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                     struct.pack("ii", 1, 0))
                self.close()
                return False
            elif line.startswith(b"GET "):
                page = self.server.name + b"\n"
                self.tx += (b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n"
                            b"Connection: close\r\nContent-Length: %d\r\n\r\n%s"
                            % (len(page), page))
                self.closing = True
                break
            else:
                self.tx += self.head + line + b"\n"
        return True

    def flush(self):
        if self.tx:
            del self.tx[:self.sock.send(self.tx)]
        want = selectors.EVENT_READ
        if self.tx:
            want |= selectors.EVENT_WRITE
        elif self.closing:
            self.close()
            return
        self.server.sel.modify(self.sock, want, self)


class Listener:
    def __init__(self, server, family, proto, port):
        self.server = server
        number = socket.IPPROTO_SCTP if proto == "sctp" else 0
        self.sock = socket.socket(family, socket.SOCK_STREAM, number)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.sock.bind(("", port))
        self.sock.listen(4096)

    def event(self, _mask):
        # All that wait, or a burst of connections takes a round trip each.
        while True:
            try:
                sock, _ = self.sock.accept()
            except BlockingIOError:
                return
            except OSError as e:
                if e.errno in (errno.ECONNABORTED, errno.ENOTCONN):
                    continue
                raise
            try:
                self.server.add(Stream(self.server, sock))
            except OSError:
                sock.close()


class Datagram:
    """Answers from the address that was asked: a service address on lo must
    not be replaced by the one that a route would choose."""

    def __init__(self, server, family, port):
        self.server = server
        self.port = port
        self.sock = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        else:
            self.sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.bind(("", port))

    def event(self, _mask):
        for _ in range(64):
            try:
                data, control, _, peer = self.sock.recvmsg(65536, 128)
            except BlockingIOError:
                return
            except OSError:
                continue
            self.answer(data, control, peer)

    def answer(self, data, control, peer):
        local, reply = "?", []
        for level, kind, info in control:
            if level == socket.IPPROTO_IP:
                local = socket.inet_ntop(socket.AF_INET, info[8:12])
                info = bytes(4) + info[8:12] + bytes(4)
            else:
                local = socket.inet_ntop(socket.AF_INET6, info[:16])
                if not local.startswith("fe80"):
                    info = info[:16] + bytes(4)
            reply.append((level, kind, info))
        message = b" ".join((self.server.name, endpoint(peer),
                             endpoint((local, self.port)), data))
        try:
            self.sock.sendmsg([message], reply, 0, peer)
        except OSError as e:
            print(f"{self.server.name.decode()}: to {peer[0]}: {e}", flush=True)


class Server:
    def __init__(self, sel, name):
        self.sel = sel
        self.name = name.encode()

    def add(self, thing):
        thing.sock.setblocking(False)
        self.sel.register(thing.sock, selectors.EVENT_READ, thing)

    def listen(self, proto, port):
        for family in FAMILIES:
            if proto == "udp":
                self.add(Datagram(self, family, port))
            else:
                self.add(Listener(self, family, proto, port))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sel = selectors.EpollSelector()
    for arg in sys.argv[2:]:
        name, netns = arg.split("=", 1)
        enter(netns)
        server = Server(sel, name)
        for spec in sys.argv[1].split(","):
            proto, port = spec.split(":")
            server.listen(proto, int(port))
    print("ready", flush=True)
    while True:
        for key, mask in sel.select():
            # An earlier event of this round may have closed it.
            if key.fileobj.fileno() >= 0:
                key.data.event(mask)


if __name__ == "__main__":
    main()
