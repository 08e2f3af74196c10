#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Transactions, request by request.

usage: txn.py CASE
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import genl  # noqa: E402
from genl import Genl, backend, flags, service, txn  # noqa: E402

BUSY = "the configuration has changed since transaction %u began"
NONE = "this socket has no transaction %u"


def expect(what, reply, code="0", text=None):
    if reply.code != code or (text is not None and reply.text != text):
        sys.exit("%s: %s %r, expected %s %r"
                 % (what, reply.code, reply.text, code, text))


def names(nl):
    return sorted(
        genl.parse(genl.parse(m)[genl.C["A_SERVICE"]])
        [genl.C["A_SERVICE_NAME"]].rstrip(b"\0").decode()
        for m in nl.dump("service-get").messages)


def stage(nl, t, name, port):
    expect("stage " + name,
           nl.request("service-new", txn(t), service(
               name, ep=("203.0.113.80", port), slots=256)))
    expect("backend of " + name,
           nl.request("backend-new", txn(t), service(name),
                      backend("198.51.100.11"), backend("198.51.100.12")))


def whole(nl):
    """Nothing is in force before the commit, all of it after."""
    before = nl.snapshot()
    t = nl.begin()
    for i in range(5):
        stage(nl, t, "t%u" % i, 1000 + i)
    if not genl.same(nl.snapshot(), before):
        sys.exit("in force before the commit")
    reply = nl.request("txn-commit", txn(t))
    expect("commit", reply)
    result = genl.parse(genl.parse(reply.messages[0])[genl.C["A_RESULT"]])
    if result[genl.C["A_RESULT_ADDED"]] != genl.u32(15):
        sys.exit("added: %s" % result)
    if names(nl) != ["t%u" % i for i in range(5)]:
        sys.exit("services: %s" % names(nl))
    expect("commit again", nl.request("txn-commit", txn(t)), "ENOENT", NONE % t)


def aborted(nl):
    before = nl.snapshot()
    t = nl.begin()
    stage(nl, t, "gone", 2000)
    expect("flush", nl.request("flush", txn(t)))
    expect("abort", nl.request("txn-abort", txn(t)))
    if not genl.same(nl.snapshot(), before):
        sys.exit("an aborted transaction has changed something")
    expect("use after abort", nl.request("flush", txn(t)), "ENOENT", NONE % t)


def refused(nl):
    """One refusal ends a transaction, whatever went before it."""
    before = nl.snapshot()
    t = nl.begin()
    stage(nl, t, "gone", 2000)
    expect("refused", nl.request("backend-new", txn(t), service("gone"),
                                 backend("198.51.100.11")), "EEXIST",
           "backend 198.51.100.11:2000 of service 'gone' is named twice")
    expect("commit", nl.request("txn-commit", txn(t)), "ENOENT", NONE % t)
    if not genl.same(nl.snapshot(), before):
        sys.exit("a refused transaction has changed something")


def moved(nl):
    """EBUSY if anything has changed since; and nothing of it is done."""
    other = Genl()
    for late in (False, True):
        t = nl.begin()
        if late:
            stage(nl, t, "late", 3000)
        expect("other", other.request("service-new", service(
            "other%u" % late, ep=("203.0.113.81", 80 + late), slots=256)))
        before = nl.snapshot()
        expect("stage", nl.request("service-new", txn(t), service(
            "late2", ep=("203.0.113.80", 3001))), "EBUSY", BUSY % t)
        expect("commit", nl.request("txn-commit", txn(t)), "ENOENT", NONE % t)
        t = nl.begin()
        stage(nl, t, "late", 3000)
        expect("other", other.request("backend-new", service("other%u" % late),
                                      backend("198.51.100.9")))
        before = nl.snapshot()
        expect("commit", nl.request("txn-commit", txn(t), flags("prune")),
               "EBUSY", BUSY % t)
        if not genl.same(nl.snapshot(), before):
            sys.exit("EBUSY has changed something")
    # What changes nothing is no reason to be refused.
    t = nl.begin()
    stage(nl, t, "late", 3000)
    expect("refused", other.request("service-del", service("none")), "ENOENT")
    expect("no-op", other.request("backend-set", service("other0"),
                                  backend("198.51.100.9", weight=100)))
    expect("commit", nl.request("txn-commit", txn(t)))


def bound(nl):
    """A transaction is its socket's, and goes with it."""
    other = Genl()
    before = nl.snapshot()
    t = other.begin()
    stage(other, t, "other", 4000)
    for cmd in ("txn-commit", "txn-abort", "flush"):
        expect(cmd, nl.request(cmd, txn(t)), "ENOENT", NONE % t)
    other.close()
    if not genl.same(nl.snapshot(), before):
        sys.exit("closing the socket has changed something")
    # Were they left behind, there would be no room after a few.
    for _ in range(3):
        many = Genl()
        for _ in range(64):
            many.begin()
        expect("65th", many.request("txn-begin"), "ENOSPC",
               "64 transactions are open already, the most there may be")
        many.close()
    killed = subprocess.Popen(
        [sys.executable, "-EsS", __file__, "hang"], stdout=subprocess.PIPE)
    killed.stdout.readline()
    killed.kill()
    killed.wait()
    for _ in range(64):
        nl.begin()


def ticks(pid):
    """Of the kernel, for a process."""
    with open("/proc/%u/stat" % pid) as stat:
        return int(stat.read().rpartition(")")[2].split()[12])


def closes(nl):
    """While the rings of one process are built, the sockets of others close; the
    build ends with its process, and nothing has changed."""
    expect("service", nl.request("service-new", service(
        "long", ep=("203.0.113.80", 6000), points=4096, unit=1, slots=1 << 20)))
    before = nl.snapshot()
    builder = subprocess.Popen(
        [sys.executable, "-EsS", __file__, "build"], stdout=subprocess.PIPE)
    builder.stdout.readline()
    begun = ticks(builder.pid)
    while builder.poll() is None and ticks(builder.pid) < begun + 5:
        os.sched_yield()
    Genl().close()
    if builder.poll() is not None:
        sys.exit("the ring was built first")
    builder.kill()
    builder.wait()
    if not genl.same(nl.snapshot(), before):
        sys.exit("a build whose process was killed has changed something")
    expect("del", nl.request("service-del", service("long")))


def tried(nl):
    """A dry run tells what would be, takes no more, and does nothing."""
    first = nl.begin()
    stage(nl, first, "base", 6000)
    expect("commit", nl.request("txn-commit", txn(first)))
    before = nl.snapshot()

    t = nl.begin()
    stage(nl, t, "new", 6001)
    expect("more of it", nl.request("backend-del", txn(t), service("base"),
                                    backend("198.51.100.12")))
    for cmd in ("service-get", "backend-get"):
        expect(cmd + " too early", nl.dump(cmd, txn(t)), "EINVAL",
               "the transaction has had no dry run")
    expect("get too early", nl.request("service-get", txn(t), service("new")),
           "EINVAL", "the transaction has had no dry run")
    expect("dry run", nl.request("txn-commit", txn(t), flags("dry_run")))
    if not genl.same(nl.snapshot(), before):
        sys.exit("a dry run has changed something")
    expect("get", nl.request("service-get", txn(t), service("new")))
    expect("get, in force", nl.request("service-get", service("new")), "ENOENT")
    counts = [len(nl.dump("backend-get", txn(t), service(name)).messages)
              for name in ("base", "new")]
    if counts != [1, 2] or len(nl.dump("service-get", txn(t)).messages) != \
            len(before[0]) + 1:
        sys.exit("as they would be: %s" % counts)
    other = Genl()
    expect("another socket", other.dump("service-get", txn(t)), "ENOENT",
           "this socket has no such transaction")

    # What has been looked at is not what would be committed after an edit.
    more = "transaction %u has had its dry run and takes no more changes"
    expect("edit", nl.request("backend-new", txn(t), service("new"),
                              backend("198.51.100.13")), "EINVAL", more % t)
    for late in ("txn-commit", "flush"):
        t = nl.begin()
        stage(nl, t, "new", 6001)
        expect("dry run", nl.request("txn-commit", txn(t), flags("dry_run")))
        expect(late, nl.request(late, txn(t)), "EINVAL", more % t)
        expect("abort", nl.request("txn-abort", txn(t)), "ENOENT", NONE % t)
    if not genl.same(nl.snapshot(), before):
        sys.exit("what was tried is in force")

    # With prune, of a file that names nothing; then void by another's change.
    t = nl.begin()
    expect("dry run", nl.request("txn-commit", txn(t),
                                 flags("dry_run", "prune")))
    if nl.dump("service-get", txn(t)).messages:
        sys.exit("services that would not be")
    expect("other", other.request("backend-set", service("base"),
                                  backend("198.51.100.11", weight=7)))
    expect("void", nl.dump("backend-get", txn(t)), "EBUSY",
           "the configuration has changed since the transaction began")
    expect("abort", nl.request("txn-abort", txn(t)), "EBUSY", BUSY % t)
    expect("dry run alone", nl.request("txn-commit", flags("dry_run")),
           "EINVAL", "transaction is missing")


def build(nl):
    print("ready", flush=True)
    nl.request("backend-new", service("long"), backend("198.51.100.11", weight=512),
               backend("198.51.100.12", weight=512))


def hang(nl):
    for _ in range(60):
        stage(nl, nl.begin(), "hang", 5000)
    print("ready", flush=True)
    sys.stdin.read()
    nl.sock.recv(1)


if __name__ == "__main__":
    globals()[sys.argv[1]](Genl())
