#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Two datagrams at once from each of many sockets.

usage: pairs.py ADDRESS PORT COUNT

Two processes, each on a CPU of its own if there are two, share COUNT connected
sockets and send a datagram from each, in step, so that both are first packets of
their flow.
Servers of whoami.py answer. Prints

    sockets=N answered=N split=N

where split counts sockets of which two backends answered.
"""

import mmap
import os
import select
import socket
import sys
import time

BATCH = 250
PATIENCE = 5.0          # seconds without an answer


def race(socks, word):
    """Sends on all; at each the two processes wait for one another."""
    steps = mmap.mmap(-1, 16)
    child = os.fork() == 0
    mine, other = (0, 8) if child else (8, 0)
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[child % len(cpus)]})
    for i, sock in enumerate(socks):
        steps[mine:mine + 8] = (i + 1).to_bytes(8, "little")
        while int.from_bytes(steps[other:other + 8], "little") <= i:
            if len(cpus) == 1:
                os.sched_yield()
        try:
            sock.send(word + (b"a" if child else b"b"))
        except OSError as e:
            print(f"send: {e}", file=sys.stderr, flush=True)
    if child:
        os._exit(0)
    os.wait()


def collect(socks):
    """Who answered on each socket, as lists."""
    names = {sock: [] for sock in socks}
    missing = 2 * len(socks)
    poll = select.epoll()
    by_fd = {}
    for sock in socks:
        poll.register(sock, select.EPOLLIN)
        by_fd[sock.fileno()] = sock
    last = time.monotonic()
    while missing and time.monotonic() - last < PATIENCE:
        for fd, _ in poll.poll(0.2):
            try:
                answer = by_fd[fd].recv(2048, socket.MSG_DONTWAIT)
            except OSError:
                continue
            names[by_fd[fd]].append(answer.split()[0])
            missing -= 1
            last = time.monotonic()
    poll.close()
    return names.values()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    cpus = os.sched_getaffinity(0)
    answered = split = 0
    for first in range(0, count, BATCH):
        socks = []
        for _ in range(min(BATCH, count - first)):
            sock = socket.socket(family, socket.SOCK_DGRAM)
            sock.connect((address, port))
            socks.append(sock)
        race(socks, b"%d" % first)
        os.sched_setaffinity(0, cpus)
        for names in collect(socks):
            answered += len(names)
            split += len(set(names)) > 1
        for sock in socks:
            sock.close()
    print(f"sockets={count} answered={answered} split={split}")


if __name__ == "__main__":
    main()
