#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Lists, message by message.

usage: nl_dump.py CASE

A list that changed while it was read is marked as such, whatever became of it,
so that nobody takes what he has for all of it.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import genl  # noqa: E402
from genl import Genl, Reply, backend, service  # noqa: E402

COUNT = 300


def expect(what, reply, code="0"):
    if reply.code != code:
        sys.exit("%s: %s %r" % (what, reply.code, reply.text))


def fill(nl):
    expect("flush", nl.request("flush"))
    t = nl.begin()
    for i in range(COUNT):
        expect("service", nl.request("service-new", genl.txn(t), service(
            "s%03u" % i, ep=("2001:db8:f::%x" % (i + 1), 80), slots=256,
            points=4)))
    for i in range(0, COUNT, 3):
        expect("backends", nl.request(
            "backend-new", genl.txn(t), service("s%03u" % i),
            *(backend("2001:db8:b::%x" % (j + 1), zone="z" * 31)
              for j in range(10))))
    expect("commit", nl.request("txn-commit", genl.txn(t)))


def read_slowly(nl, cmd, meanwhile, attrs=b""):
    """A list, and something happening after its first part."""
    nl.send(nl.message(cmd, attrs, genl.NLM_F_DUMP))
    reply = Reply()
    nl.receive(reply)
    if reply.ended:
        sys.exit("%s: a list of %u entries came at once"
                 % (cmd, len(reply.messages)))
    first = len(reply.messages)
    meanwhile()
    while not reply.ended:
        nl.receive(reply)
    return reply, first


def changes(other):
    def ask(*request):
        return lambda: expect(request[0], other.request(*request))

    last = service("s%03u" % (COUNT - 1))
    return [
        ("an addition", ask("service-new", service(
            "more", ep=("203.0.113.1", 80), slots=256))),
        ("a backend more", ask("backend-new", last, backend("2001:db8:b::99"))),
        ("a backend less", ask("backend-del", service("s000"),
                               backend("2001:db8:b::1"))),
        ("a weight", ask("backend-set", service("s003"),
                         backend("2001:db8:b::1", weight=3))),
        ("an option", ask("service-set", service("s002", on_empty=1))),
        ("a removal", ask("service-del", service("s001"))),
        ("the end of all", ask("flush")),
    ]


def marked(nl):
    """Every change shows, also one that leaves nothing to be listed."""
    other = Genl()
    for cmd in ("service-get", "backend-get"):
        fill(nl)
        for what, change in changes(other):
            reply, first = read_slowly(nl, cmd, change)
            expect(cmd, reply)
            if not reply.interrupted:
                sys.exit("%s: %s after %u of %u entries is not marked"
                         % (cmd, what, first, len(reply.messages)))
        fill(nl)
        reply, first = read_slowly(nl, cmd, lambda: expect(
            "no change", other.request("backend-set", service("s000"),
                                       backend("2001:db8:b::1", weight=100))))
        if reply.interrupted:
            sys.exit("%s: marked, though nothing has changed" % cmd)
        want = COUNT if cmd == "service-get" else COUNT // 3 * 10
        if len(reply.messages) != want:
            sys.exit("%s: %u entries of %u" % (cmd, len(reply.messages), want))
        print("%s: %u entries, %u of them in the first part"
              % (cmd, want, first))


def one_service(nl):
    """The backends of one service that goes meanwhile."""
    other = Genl()
    expect("flush", nl.request("flush"))
    expect("service", nl.request("service-new", service(
        "s", ep=("2001:db8:f::1", 80), slots=256, points=1)))
    expect("backends", nl.request("backend-new", service("s"), *(
        backend("2001:db8:b::%x" % (j + 1), zone="z" * 31)
        for j in range(1000))))
    reply, first = read_slowly(
        nl, "backend-get",
        lambda: expect("del", other.request("service-del", service("s"))),
        service("s"))
    if reply.code != "ENOENT" and not reply.interrupted:
        sys.exit("%u of 1000 backends with neither error nor mark"
                 % len(reply.messages))
    expect("gone", nl.dump("backend-get", service("s")), "ENOENT")


def named(nl):
    """Each list is of the service that it is asked for, and of no other."""
    expect("flush", nl.request("flush"))
    for i in (1, 2, 3):
        name = "s%u" % i
        expect("service", nl.request("service-new", service(
            name, ep=("203.0.113.%u" % i, 80), slots=256, points=1)))
        expect("backend", nl.request("backend-new", service(name),
                                     backend("198.51.100.%u" % i)))
    for cmd in ("service-get", "backend-get"):
        reply = nl.dump(cmd)
        expect(cmd, reply)
        if len(reply.messages) != 3:
            sys.exit("%s: %u of 3" % (cmd, len(reply.messages)))
        reply = nl.dump(cmd, service("s2"))
        expect(cmd, reply)
        found = [genl.parse(genl.parse(message)[genl.C["A_SERVICE"]])
                 [genl.C["A_SERVICE_NAME"]] for message in reply.messages]
        if found != [genl.string("s2")]:
            sys.exit("%s of s2: %s" % (cmd, found))
    expect("flush", nl.request("flush"))


if __name__ == "__main__":
    globals()[sys.argv[1]](Genl())
