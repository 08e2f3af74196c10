#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Every command, as whoever calls this.

usage: nl_perm.py SEEDED-MAY-BE-READ CHANGES-MAY-BE-MADE     each "yes" or "no"

Service "open" has the documented seed, "secret" one of its own.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import genl  # noqa: E402
from genl import C, Genl, backend, flow, service  # noqa: E402

SECRET = "%s of service 'secret', which has a seed of its own, needs CAP_NET_ADMIN"
SECRET_BYTES = bytes(range(16))

CHANGES = [
    ("service-new", service("new", ep=("203.0.113.9", 80))),
    ("service-set", service("open", on_empty=1)),
    ("service-del", service("open")),
    ("backend-new", service("open") + backend("198.51.100.19")),
    ("backend-set", service("open") + backend("198.51.100.11", weight=3)),
    ("backend-set", backend("198.51.100.11", weight=3)),
    ("backend-del", service("open") + backend("198.51.100.11")),
    ("txn-begin", b""),
    ("txn-commit", genl.txn(1)),
    ("txn-abort", genl.txn(1)),
    ("flush", b""),
    ("flush", genl.txn(1)),
    # Also what is refused for another reason to those who may.
    ("service-new", b""),
    ("service-del", service("none")),
]


def ends(daddr):
    return flow(proto=6, saddr="192.0.2.10", daddr=daddr, sport=40000, dport=80)


READS = [
    ("service-get", service("open")), ("service-get", service("secret")),
    ("backend-get", service("open") + backend("198.51.100.11")),
    ("backend-get", service("secret") + backend("198.51.100.11")),
    ("ring-get", service("open")), ("lookup", ends("203.0.113.1")),
    ("info-get", b""),
]
SECRETS = [
    ("ring-get", service("secret"), SECRET % "ring"),
    ("lookup", ends("203.0.113.2"), SECRET % "lookup"),
]


def main():
    secrets, changes = (word == "yes" for word in sys.argv[1:3])
    nl, bad = Genl(), 0

    def complain(what, reply):
        nonlocal bad
        bad += 1
        print("%s: %s %r" % (what, reply.code, reply.text))

    before = nl.snapshot()
    for cmd, attrs in READS:
        reply = nl.request(cmd, attrs)
        if reply.errno or not reply.messages:
            complain(cmd, reply)
    for cmd, attrs, text in SECRETS:
        reply = nl.request(cmd, attrs)
        if (reply.code, reply.text) != (("0", "") if secrets else
                                        ("EPERM", text)):
            complain(cmd + " with a seed", reply)
    told = any(SECRET_BYTES in message for message in before[0])
    asked = nl.request("service-get", service("secret")).messages[0]
    if told != secrets or (SECRET_BYTES in asked) != secrets:
        bad += 1
        print("the seed is %stold" % ("" if told else "not "))

    if changes:
        # In a transaction, so that it is as it was afterwards.
        t = nl.begin()
        for cmd, attrs in CHANGES[:1] + CHANGES[3:5]:
            reply = nl.request(cmd, genl.txn(t), attrs)
            if reply.errno:
                complain(cmd, reply)
        reply = nl.request("txn-abort", genl.txn(t))
        if reply.errno:
            complain("txn-abort", reply)
    else:
        for cmd, attrs in CHANGES:
            reply = nl.request(cmd, attrs)
            if reply.code != "EPERM":
                complain(cmd, reply)
        for number in range(C["__CHS_CMD_MAX"], 64):
            if nl.request(number).code == "0":
                complain("command %u" % number, reply)
    if not genl.same(before, nl.snapshot()):
        bad += 1
        print("something changed")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
