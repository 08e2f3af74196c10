#!/usr/bin/python3 -Es
# SPDX-License-Identifier: GPL-2.0-only
"""Has the kernel make one of the model's rings and compares every arc.

usage: ring_agree.py RING

RING is one of RINGS in unit/ring_model.py. Backends are added in the order
there; lookups are compared too, those that the vectors name for the ring.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit"))
import ring_model  # noqa: E402


def chctl(*words, stdin=None):
    return subprocess.run(["chctl", *words], input=stdin, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def endpoint(addr, port):
    if not port:
        return "[%s]" % addr if ":" in addr else addr
    return ("[%s]:%u" if ":" in addr else "%s:%u") % (addr, port)


def commands(name, conf, backends):
    """One family a service: all that mode nat has."""
    v6 = ":" in backends[0][0]
    yield "flush"
    # Under a service of any port, a backend without one has identity port 0.
    words = ["service add m tcp", "[2001:db8:f::80]:*" if v6 else
             "203.0.113.80:*"]
    for option in ("points", "unit", "slots", "hash"):
        if option in conf:
            words.append("%s %s" % (option, conf[option]))
    words.append("balance %.2f" % (conf["balance"] / 100)
                 if conf.get("balance") else "balance off")
    if "key" in conf:
        words.append("seed " + conf["key"].hex())
    yield " ".join(words)
    for addr, port, weight in backends:
        yield "backend add m %s weight %u" % (endpoint(addr, port), weight)


def flows(name, v6, count):
    numbers = ring_model.Numbers(name.encode())
    dst = "2001:db8:f::80" if v6 else "203.0.113.80"
    for _ in range(count):
        src = numbers.v6() if v6 else numbers.v4()
        yield src, numbers.below(65536), dst, 1 + numbers.below(65535)


def main():
    name, conf, backends = next(r for r in ring_model.RINGS
                                if r[0] == sys.argv[1])
    ring = ring_model.Ring(backends, **conf)
    chctl("-b", "-", stdin="\n".join(commands(name, conf, backends)) + "\n")

    bad = 0
    arcs = json.loads(chctl("-j", "ring", "dump", "m"))
    if len(arcs) != len(ring.arcs):
        sys.exit("%u arcs of %u" % (len(arcs), len(ring.arcs)))
    for (number, owner), ident in zip(arcs, ring.arcs):
        addr, port = ring_model.text(ident)
        if owner.strip("[]") != endpoint(addr, port).strip("[]"):
            bad += 1
            print("arc %u: %s, model %s" % (number, owner, (addr, port)))
    got = json.loads(chctl("-j", "ring", "digest", "m"))[0]["digest"]
    if got != "%016x" % ring.digest():
        bad += 1
        print("digest %s, model %016x" % (got, ring.digest()))
    shares = ring.shares()
    for one in json.loads(chctl("-j", "backend", "show", "m")):
        ident = ring_model.identity(one["address"], one["port"])
        if one["slots"] != shares[ident]:
            bad += 1
            print("%s: share differs from the model's %u"
                  % (one, shares[ident]))

    v6 = ":" in backends[0][0]
    asked = list(flows(name, v6, 60))
    lines = ["lookup tcp %s %s" % (endpoint(f[0], f[1] or 1),
                                   endpoint(f[2], f[3])) for f in asked]
    answers = chctl("-j", "-b", "-", stdin="\n".join(lines) + "\n").split("\n")
    for (src, sport, dst, dport), answer in zip(asked, answers):
        value = ring_model.flow_hash(ring.key, ring.hash, 6, src, sport or 1,
                                     dst, dport)
        addr, port = ring_model.text(ring.owner(value))
        answer = json.loads(answer)
        got = answer["address"], answer["port"], answer["arc"]
        if got != (addr, port or dport, value * ring.slots >> 64):
            bad += 1
            print("%s:%u to port %u: %s, model %s" % (src, sport, dport, got,
                                                      (addr, port)))
    print("%u arcs, %u lookups, %u differences" % (len(arcs), len(asked), bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
