#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""The client of the demonstration: long downloads and short connections.

usage: client.py COMMANDS ANSWERS

Reads a command a line from one pipe, answers each by one line on the other.
Downloads go on while it waits for the next.

ready ADDRESS...        until there is a web server at each
start COUNT SPORT ADDRESS
        as many downloads of /file, each over a connection of its own from
        consecutive local ports; answers when data comes on all
status [BACKEND]
        waits until each download, except those from BACKEND, has got more data
        than it had; then how things are
who SPORT               which backend serves that download
quiet BACKEND           waits until nothing has come from it for a while
recover BACKEND         waits until all downloads get data, none from BACKEND
probe COUNT SPORT ADDRESS FILE [SECONDS]
        short connections that ask who is there, and wait so long; FILE gets a
        line for each: SPORT NAME, or "-" for no answer
fetch SPORT ADDRESS     one download at full speed
finish FILE
        reads the rest of all downloads at full speed; FILE gets a line for
        each: SPORT BREAKS BYTES SHA256

Answers are KEY=VALUE words: total; moving (got more data), done, broken
(connections lost) and percent (read of all); for each backend the number of
downloads that it serves, or of answers, as NAME=NUMBER.

A download is read slowly, and ever more slowly the nearer it comes to nine
tenths, so that it lasts as long as it is needed. One whose connection
breaks asks for the rest over a new one.
"""

import collections
import errno
import hashlib
import math
import os
import select
import socket
import sys
import time

PORT = 80
PATIENCE = 60           # seconds for what must happen
TICK = 0.2              # seconds between two looks at the slow downloads
PACE = 60               # seconds until a download is half as far as it may go
CHUNK = 2048            # bytes that are worth a system call
QUIET = 5               # looks in which nothing may have come
BUFFER = 16384          # a small one, or the kernel would do the reading
AT_ONCE = 50            # short connections
RESUME = 10000          # a resumed download's port: so much above the former


class Fetch:
    """One request over a connection of its own."""

    buffer = BUFFER

    def __init__(self, client, address, sport, path, offset=0):
        self.client = client
        self.offset = offset
        self.request = (f"GET {path} HTTP/1.1\r\nHost: web\r\n"
                        f"Range: bytes={offset}-\r\n\r\n").encode()
        self.backend = ""
        self.head = b""
        self.size = self.left = None
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.setblocking(False)
        for level, name, value in (
                (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
                (socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer),
                # Asks again after each second of silence, as good clients do.
                (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
                (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
                (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
                (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 120)):
            self.sock.setsockopt(level, name, value)
        self.sock.bind(("", sport))
        client.add(self, select.EPOLLOUT)
        try:
            self.sock.connect((address, PORT))
        except BlockingIOError:
            pass

    def event(self, mask):
        try:
            if self.request:
                self.connected()
            elif mask & (select.EPOLLHUP | select.EPOLLERR):
                while self.sock:
                    self.read(65536)
            else:
                self.read(65536)
        except BlockingIOError:
            pass
        except OSError as e:
            self.lose(errno.errorcode[e.errno])

    def connected(self):
        err = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if err:
            raise OSError(err, "")
        self.sock.send(self.request)
        self.request = b""
        self.client.watch(self, select.EPOLLIN)

    def read(self, most):
        data = self.sock.recv(most)
        if not data:
            self.lose("EOF")
            return
        if self.left is None:
            self.head += data
            head, found, data = self.head.partition(b"\r\n\r\n")
            if not found:
                return
            self.parse(head.decode("ascii"))
        if data:
            self.left -= len(data)
            self.body(data)
        if not self.left:
            self.close()
            self.end()

    def parse(self, head):
        lines = head.split("\r\n")
        field = dict(line.lower().split(": ", 1) for line in lines[1:])
        status = lines[0].split()[1]
        if status == "206":
            first, self.size = field["content-range"].split("-", 1)
            self.size = int(self.size.split("/")[1])
            if first != f"bytes {self.offset}":
                raise OSError(errno.EPROTO, "")
        elif status != "200" or self.offset:
            raise OSError(errno.EPROTO, "")
        self.left = int(field["content-length"])
        self.backend = field["x-backend"]
        self.headed()

    def close(self):
        if self.sock:
            self.client.remove(self)
            # By a reset: hundreds would linger in TIME_WAIT.
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 b"\1\0\0\0\0\0\0\0")
            self.sock.close()
            self.sock = None

    def lose(self, why):
        self.close()
        self.lost(why)

    def headed(self):
        pass

    def body(self, data):
        pass

    def end(self):
        pass

    def lost(self, why):
        pass


class Part(Fetch):
    """A connection of a download."""

    def __init__(self, download, sport):
        self.download = download
        super().__init__(download.client, download.address, sport, "/file",
                         download.got)

    def headed(self):
        self.download.size = self.size
        if not self.client.fast:
            # Only errors are told; data is looked for at each tick.
            self.client.watch(self, 0)

    def body(self, data):
        self.download.body(data)

    def end(self):
        self.download.done = True

    def lost(self, why):
        self.download.lost()


class Download:
    def __init__(self, client, address, sport):
        self.client = client
        self.address = address
        self.sport = sport
        self.got = self.mark = self.breaks = self.tries = 0
        self.size = 0
        self.again = None
        self.dry = 0
        self.done = False
        self.sha = hashlib.sha256()
        self.part = None
        self.connect()

    def connect(self):
        self.again = None
        self.part = Part(self, self.sport + self.tries * RESUME)

    def body(self, data):
        self.sha.update(data)
        self.got += len(data)
        self.dry = 0

    def lost(self):
        # A connection on which nothing came was an attempt, not a break.
        if self.part.left is not None:
            self.breaks += 1
        self.tries = self.tries % 3 + 1
        self.again = time.monotonic() + 0.1

    def tick(self, now, fraction):
        if self.again is not None:
            if now >= self.again:
                self.connect()
            return
        if self.part.left is None or not self.part.sock:
            return
        most = int(self.size * fraction) - self.got
        if self.client.drain == self.backend():
            most = BUFFER
        if most >= CHUNK:
            try:
                self.part.read(most)
            except BlockingIOError:
                self.dry += 1
            except OSError as e:
                self.part.lose(errno.errorcode[e.errno])

    def backend(self):
        return self.part.backend

    def moving(self):
        return self.done or self.got > self.mark


class Once(Fetch):
    """A download that nothing interrupts."""

    buffer = 262144

    def __init__(self, *args):
        self.sha = hashlib.sha256()
        self.error = ""
        self.done = False
        super().__init__(*args)

    def body(self, data):
        self.sha.update(data)

    def end(self):
        self.done = True

    def lost(self, why):
        self.error = why


class Probe(Fetch):
    def __init__(self, client, address, sport):
        self.sport = sport
        self.name = "-"
        self.born = time.monotonic()
        super().__init__(client, address, sport, "/whoami")

    def end(self):
        self.name = self.backend


class Client:
    def __init__(self):
        self.epoll = select.epoll()
        self.things = {}
        self.downloads = []
        self.born = self.next = time.monotonic()
        self.fast = False
        self.drain = None
        self.commands = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
        self.answers = open(sys.argv[2], "w", encoding="ascii", buffering=1)
        self.input = b""
        self.epoll.register(self.commands, select.EPOLLIN)

    def add(self, thing, mask):
        self.things[thing.sock.fileno()] = thing
        self.epoll.register(thing.sock, mask)

    def watch(self, thing, mask):
        self.epoll.modify(thing.sock, mask)

    def remove(self, thing):
        self.epoll.unregister(thing.sock)
        del self.things[thing.sock.fileno()]

    def turn(self, deadline):
        now = time.monotonic()
        if now >= self.next:
            age = now - self.born
            fraction = 0 if self.fast else 0.9 * age / (age + PACE)
            for download in self.downloads:
                download.tick(now, fraction)
            self.next = now = time.monotonic()
            self.next += TICK
        wait = max(0, min(self.next, deadline) - now)
        for fd, mask in self.epoll.poll(wait):
            if fd == self.commands:
                data = os.read(fd, 65536)
                if not data:
                    sys.exit(0)
                self.input += data
            elif fd in self.things:
                self.things[fd].event(mask)

    def until(self, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() >= deadline:
                return False
            self.turn(deadline)
        return True

    def report(self, names, **more):
        count = collections.Counter(name for name in names if name)
        words = [f"{key}={value}" for key, value in more.items()]
        words += [f"{name}={count[name]}" for name in sorted(count)]
        return " ".join(words)

    def state(self):
        loads = self.downloads
        size = sum(d.size for d in loads) or 1
        return self.report(
            ("" if d.done else d.backend() for d in loads),
            total=len(loads), moving=sum(d.moving() for d in loads),
            done=sum(d.done for d in loads),
            broken=sum(d.breaks for d in loads),
            percent=sum(d.got for d in loads) * 100 // size)

    def cmd_ready(self, *addresses):
        waiting = set(addresses)
        while waiting:
            probes = {a: Probe(self, a, 0) for a in waiting}
            if not self.until(lambda: not any(p.sock for p in probes.values()),
                              PATIENCE):
                break
            waiting = {a for a, p in probes.items() if p.name == "-"}
            self.until(lambda: False, 0.2 if waiting else 0)
        return f"waiting={len(waiting)}"

    def cmd_start(self, count, sport, address):
        self.born = time.monotonic()
        for i in range(int(count)):
            self.downloads.append(Download(self, address, int(sport) + i))
        self.until(lambda: all(d.got for d in self.downloads))
        return self.state()

    def cmd_status(self, backend=None):
        for d in self.downloads:
            d.mark = d.got
        self.until(lambda: all(d.moving() or d.backend() == backend
                               for d in self.downloads))
        return self.state()

    def cmd_who(self, sport):
        for d in self.downloads:
            if d.sport == int(sport):
                return f"who={d.backend()}"
        return "who=-"

    def cmd_quiet(self, backend):
        # What waits in its buffers is read first.
        self.drain = backend
        self.until(lambda: all(d.dry >= QUIET for d in self.downloads
                               if d.backend() == backend))
        self.drain = None
        return self.state()

    def cmd_recover(self, backend):
        for d in self.downloads:
            d.mark = d.got
        self.until(lambda: all(d.moving() and d.backend() != backend
                               for d in self.downloads))
        return self.state()

    def cmd_probe(self, count, sport, address, path, seconds=20):
        todo = collections.deque(range(int(sport), int(sport) + int(count)))
        probes, at_work = [], []
        while todo or at_work:
            while todo and len(at_work) < AT_ONCE:
                at_work.append(Probe(self, address, todo.popleft()))
                probes.append(at_work[-1])
            now = time.monotonic()
            self.turn(now + 0.1)
            for probe in at_work:
                if now - probe.born > float(seconds):
                    probe.close()
            at_work = [probe for probe in at_work if probe.sock]
        with open(path, "w", encoding="ascii") as f:
            for probe in probes:
                print(probe.sport, probe.name, file=f)
        names = [probe.name for probe in probes if probe.name != "-"]
        return self.report(names, total=len(probes), answered=len(names))

    def cmd_fetch(self, sport, address):
        once = Once(self, address, int(sport), "/file")
        self.until(lambda: not once.sock)
        return (f"done={int(once.done)} backend={once.backend or '-'} "
                f"sha256={once.sha.hexdigest()} error={once.error or '-'}")

    def cmd_finish(self, path):
        self.fast = True
        for d in self.downloads:
            if d.part.sock and d.part.left is not None:
                d.part.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                       262144)
                self.watch(d.part, select.EPOLLIN)
        self.until(lambda: all(d.done for d in self.downloads), 3 * PATIENCE)
        with open(path, "w", encoding="ascii") as f:
            for d in self.downloads:
                print(d.sport, d.breaks, d.got, d.sha.hexdigest(), file=f)
        return self.state()

    def serve(self):
        while True:
            self.until(lambda: b"\n" in self.input, math.inf)
            line, self.input = self.input.split(b"\n", 1)
            name, *args = line.decode().split()
            try:
                answer = getattr(self, "cmd_" + name)(*args)
            except (AttributeError, TypeError, ValueError, OSError) as e:
                answer = f"error: {line.decode()}: {e}"
            print(answer, file=self.answers)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Client().serve()
