#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Holds many connections to servers of whoami.py and uses them on command.

Reads a command a line on standard input, answers each by one line.

open PROTO ADDRESS PORT COUNT [sport=FIRST] [src=ADDRESS] [timeout=MS]
        COUNT more connections (tcp, sctp) or connected sockets (udp), from
        consecutive local ports if FIRST is given
exchange [timeout=MS] [size=BYTES]
        asks over each connection who is at the other end
run [gap=MS] [timeout=MS] [size=BYTES]
        the same over and over, until "stop", whose answer sums up
churn PROTO ADDRESS PORT [at=N] [timeout=MS] [sport=FIRST]
        short connections, N at a time, each asked once, until "stop"
stop
table FILE
        a line for each connection: PROTO SRC SPORT DST DPORT BACKEND
        FIRST-BACKEND STATE PEER-ADDRESS-AND-PORT-SEEN-BY-THE-BACKEND
close [BACKEND]         closes those (all) in the orderly way
reset [BACKEND]         closes those by a reset
forget                  drops those that are broken
quit

Answers are KEY=NUMBER words: total, answered, moved (answered by another
backend than the first time), lost (an unanswered datagram), broken in all, of
which reset, refused, unreachable, closed, timeout; and for each backend the
number of its answers as NAME=NUMBER. After "run" and "churn" also rounds and
slowest (milliseconds of the slowest answer).
"""

import collections
import errno
import os
import selectors
import socket
import struct
import sys
import time

# ms; an emulated machine is slow
TIMEOUT = 10000 * int(os.environ.get("CHS_SLOW", "1"))
REASONS = {
    errno.ECONNRESET: "reset",
    errno.EPIPE: "reset",
    errno.ECONNREFUSED: "refused",
    errno.ETIMEDOUT: "timeout",
}


def reason_of(err):
    return REASONS.get(err, "unreachable")


class Conn:
    def __init__(self, proto, dst, port, src, sport):
        family = socket.AF_INET6 if ":" in dst else socket.AF_INET
        kind = socket.SOCK_DGRAM if proto == "udp" else socket.SOCK_STREAM
        number = socket.IPPROTO_SCTP if proto == "sctp" else 0
        self.proto, self.dst, self.port = proto, dst, port
        self.src, self.sport = src, sport
        self.state = "connecting"
        self.backend = self.first = self.seen = "-"
        self.rx = bytearray()
        self.tx = bytearray()
        self.token = b""
        self.since = 0.0
        self.sock = socket.socket(family, kind, number)
        try:
            self.sock.setblocking(False)
            if proto != "udp":
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if src or sport:
                self.sock.bind((src, sport))
            self.sock.connect((dst, port))
        except BlockingIOError:
            return
        except OSError as e:
            self.dead(reason_of(e.errno))
            return
        self.connected()

    def connected(self):
        self.state = "open"
        self.src, self.sport = self.sock.getsockname()[:2]

    def dead(self, why):
        self.state = why
        self.sock.close()

    def live(self):
        return self.state in ("open", "connecting")

    def close(self, hard=False):
        if not self.live():
            return
        if hard and self.proto != "udp":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        self.dead("done")

    def row(self):
        return (f"{self.proto} {self.src or '-'} {self.sport} {self.dst} "
                f"{self.port} {self.backend} {self.first} {self.state} {self.seen}")


class Task:
    """Some connections, asked once each, until all have answered, or none has for
    the length of the timeout: how long all of them take is the machine's affair."""

    def __init__(self, loop, conns, timeout, size=0):
        self.loop = loop
        self.count = collections.Counter()
        self.pending = set()
        self.timeout = timeout / 1000
        self.deadline = time.monotonic() + self.timeout
        for conn in conns:
            self.count["total"] += 1
            if not conn.live():
                self.broke(conn)
                continue
            loop.seq += 1
            conn.token = b"%d%s" % (loop.seq, b"." * size)
            conn.rx.clear()
            conn.tx = bytearray(conn.token if conn.proto == "udp"
                                else conn.token + b"\n")
            conn.since = time.monotonic()
            self.pending.add(conn)
            loop.sel.register(conn.sock, selectors.EVENT_READ |
                              selectors.EVENT_WRITE, (self, conn))

    def broke(self, conn):
        self.count["broken"] += 1
        self.count[conn.state] += 1

    def leave(self, conn):
        self.pending.discard(conn)
        if conn.live():
            self.loop.sel.unregister(conn.sock)

    def fail(self, conn, why):
        self.loop.sel.unregister(conn.sock)
        self.pending.discard(conn)
        if conn.proto == "udp":
            # A datagram socket survives: what failed is this datagram.
            self.count["lost"] += 1
            self.count[why] += 1
            return
        conn.dead(why)
        self.broke(conn)

    def event(self, conn, mask):
        if conn not in self.pending:
            return
        try:
            if mask & selectors.EVENT_WRITE:
                self.write(conn)
            if mask & selectors.EVENT_READ and conn in self.pending:
                self.read(conn)
        except BlockingIOError:
            pass
        except OSError as e:
            self.fail(conn, reason_of(e.errno))

    def write(self, conn):
        if conn.state == "connecting":
            err = conn.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if err:
                raise OSError(err, "")
            conn.connected()
        if conn.tx:
            del conn.tx[:conn.sock.send(conn.tx)]
        if not conn.tx:
            self.loop.sel.modify(conn.sock, selectors.EVENT_READ, (self, conn))

    def read(self, conn):
        data = conn.sock.recv(65536)
        if conn.proto == "udp":
            conn.rx[:] = data + b"\n"
        elif not data:
            self.fail(conn, "closed")
            return
        else:
            conn.rx += data
        if conn.rx.endswith(b"\n"):
            words = bytes(conn.rx[:-1]).split(b" ", 5)
            if len(words) == 6 and words[5] == conn.token:
                self.answer(conn, [w.decode() for w in words[:5]])
            conn.rx.clear()

    def answer(self, conn, words):
        conn.backend = words[0]
        conn.seen = f"{words[1]} {words[2]}"
        if conn.first == "-":
            conn.first = conn.backend
        elif conn.backend != conn.first:
            self.count["moved"] += 1
        self.count["answered"] += 1
        self.count["@" + conn.backend] += 1
        now = time.monotonic()
        self.deadline = now + self.timeout
        self.loop.slowest = max(self.loop.slowest, now - conn.since)
        self.leave(conn)

    def expire(self):
        for conn in list(self.pending):
            if conn.proto == "udp":
                self.count["lost"] += 1
                self.leave(conn)
            else:
                self.fail(conn, "timeout")


KEYS = ("total", "answered", "moved", "lost", "broken", "reset", "refused",
        "unreachable", "closed", "timeout")


def report(count, **more):
    words = [f"{key}={count[key]}" for key in KEYS]
    words += [f"{key}={value}" for key, value in more.items()]
    words += [f"{key[1:]}={count[key]}" for key in sorted(count) if key[0] == "@"]
    return " ".join(words)


class Loop:
    def __init__(self):
        self.sel = selectors.EpollSelector()
        self.conns = []
        self.seq = 0
        self.slowest = 0.0
        self.task = None        # what is under way
        self.done = None        # what to do when it is
        self.repeat = None      # makes the next task while "run" or "churn" last
        self.next = None        # ... at this time
        self.sum = None
        self.rounds = 0
        self.stopping = False
        self.input = bytearray()
        self.queue = collections.deque()

    def say(self, text):
        print(text, flush=True)

    # One task at a time.

    def start(self, task, done):
        self.task, self.done = task, done

    def finish(self):
        task, self.task = self.task, None
        task.expire()
        self.done(task.count)

    def once(self, conns, timeout, size=0):
        self.start(Task(self, conns, timeout, size),
                   lambda count: self.say(report(count)))

    def round_done(self, count, gap):
        self.sum.update(count)
        self.rounds += 1
        if self.stopping:
            self.say(report(self.sum, rounds=self.rounds,
                            slowest=int(self.slowest * 1000)))
            self.repeat = None
            self.stopping = False
        else:
            self.next = time.monotonic() + gap / 1000

    def begin(self, repeat):
        self.repeat = repeat
        self.sum = collections.Counter()
        self.rounds = 0
        self.slowest = 0.0
        self.say("started")
        repeat()

    # Commands

    def cmd_open(self, proto, dst, port, count, sport=0, src="", timeout=TIMEOUT):
        sport = int(sport)
        conns = [Conn(proto, dst, int(port), src, sport and sport + i)
                 for i in range(int(count))]
        self.conns += conns
        # A connection that was accepted but is not answered is none.
        self.once(conns, int(timeout))

    def cmd_exchange(self, timeout=TIMEOUT, size=0):
        self.once(self.conns, int(timeout), int(size))

    def cmd_run(self, gap=0, timeout=TIMEOUT, size=0):
        def repeat():
            self.start(Task(self, self.conns, int(timeout), int(size)),
                       lambda count: self.round_done(count, int(gap)))
        self.begin(repeat)

    def cmd_churn(self, proto, dst, port, at=10, timeout=TIMEOUT, sport=0):
        first, at = int(sport), int(at)
        state = {"port": first}

        def repeat():
            conns = []
            for _ in range(at):
                conns.append(Conn(proto, dst, int(port), "", state["port"]))
                if first:
                    state["port"] += 1
                    if state["port"] > 65535:
                        state["port"] = first

            def done(count):
                for conn in conns:
                    # A reset: thousands would otherwise linger in TIME_WAIT.
                    conn.close(hard=True)
                self.round_done(count, 0)
            self.start(Task(self, conns, int(timeout)), done)
        self.begin(repeat)

    def cmd_stop(self):
        if not self.repeat:
            self.say("error: nothing runs")
            return
        self.stopping = True
        if not self.task:
            self.next = None
            self.rounds -= 1
            self.round_done(collections.Counter(), 0)

    def cmd_table(self, path):
        with open(path, "w", encoding="ascii") as f:
            for conn in self.conns:
                print(conn.row(), file=f)
        self.say(f"total={len(self.conns)}")

    def drop(self, backend, hard):
        gone = [c for c in self.conns if backend in (None, c.backend)]
        for conn in gone:
            conn.close(hard)
        self.conns = [c for c in self.conns if c not in gone]
        self.say(f"total={len(gone)}")

    def cmd_close(self, backend=None):
        self.drop(backend, False)

    def cmd_reset(self, backend=None):
        self.drop(backend, True)

    def cmd_forget(self):
        before = len(self.conns)
        self.conns = [c for c in self.conns if c.live()]
        self.say(f"total={before - len(self.conns)}")

    def cmd_quit(self):
        self.say("bye")
        sys.exit(0)

    def command(self, line):
        name, *words = line.split()
        args = [w for w in words if "=" not in w]
        options = dict(w.split("=", 1) for w in words if "=" in w)
        try:
            getattr(self, "cmd_" + name)(*args, **options)
        except (AttributeError, TypeError, ValueError, OSError) as e:
            self.say(f"error: {line}: {e}")

    def read_commands(self):
        data = os.read(0, 65536)
        if not data:
            self.sel.unregister(0)
            self.queue.append("quit")
            return
        *lines, self.input = (self.input + data).split(b"\n")
        self.queue.extend(line.decode() for line in lines if line.strip())

    def serve(self):
        self.sel.register(0, selectors.EVENT_READ, None)
        while True:
            while (self.queue and not self.stopping and
                   (not self.task or self.repeat)):
                busy = self.repeat and self.queue[0].split()[0] not in (
                    "stop", "table", "quit")
                line = self.queue.popleft()
                if busy:
                    self.say(f"error: {line}: something runs")
                else:
                    self.command(line)
            if self.task and (not self.task.pending or
                              time.monotonic() >= self.task.deadline):
                self.finish()
                continue
            wake = None
            if self.task:
                wake = max(0, self.task.deadline - time.monotonic())
            elif self.next is not None:
                wake = self.next - time.monotonic()
                if wake <= 0:
                    self.next = None
                    self.repeat()
                    continue
            for key, mask in self.sel.select(wake):
                if key.data is None:
                    self.read_commands()
                else:
                    key.data[0].event(key.data[1], mask)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    Loop().serve()
