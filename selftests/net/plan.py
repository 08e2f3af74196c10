#!/usr/bin/python3 -Es
# SPDX-License-Identifier: GPL-2.0-only
"""Plans random changes, makes them, and compares, arc for arc.

usage: plan.py CHANGES

Each change is planned first, which must change nothing; then it is made. What
moved is counted from dumps of every ring before and after. What is refused must
be refused by the plan in the same words, and does not count as a change.
"""

import collections
import json
import random
import subprocess
import sys

SERVICES = """\
service add web tcp 203.0.113.80:80 points 64 slots 1024
service add balanced tcp 203.0.113.81:80 points 200 slots 2048
service add secret udp 203.0.113.82:53 points 20 slots 512 balance 1.25 \
seed 000102030405060708090a0b0c0d0e0f
service add six tcp [2001:db8:f::80]:* points 16 slots 256 hash src
service add direct tcp 203.0.113.83:80 points 32 slots 512 mode route
"""
NAMES = [line.split()[2] for line in SERVICES.splitlines()]
REFUSED = object()


def call(*words, stdin=None):
    return subprocess.run(["chctl", *words], input=stdin, text=True,
                          capture_output=True)


class Reader:
    """One process of the tool that reads what there is, as often as it is asked."""

    def __init__(self):
        self.tool = subprocess.Popen(["chctl", "-j", "-b", "-"], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self):
        line = self.tool.stdout.readline()
        if not line:
            sys.exit("the tool has ended with status %d" % self.tool.wait())
        return line

    def ask(self, *commands):
        """The answers to commands that print a line of JSON each."""
        self.tool.stdin.write("".join(c + "\n" for c in commands))
        self.tool.stdin.flush()
        return [json.loads(self.line()) for _ in commands]

    def look(self):
        """The configuration, and "ring show" right behind it."""
        self.tool.stdin.write("save\nring show\n")
        self.tool.stdin.flush()
        lines = []
        while not (line := self.line()).startswith("["):
            lines.append(line)
        return "".join(lines), json.loads(line)


PASSING = ("open", "settles_in")


class Rings:
    """What is configured, and the arcs of every ring in force."""

    def __init__(self, reader, last=None):
        self.reader = reader
        self.config, show = reader.look()
        self.show = {one["service"]: {k: v for k, v in one.items()
                                      if k not in PASSING}
                     for one in show}
        # A generation is one ring.
        kept = {name for name in self.show
                if last and last.show.get(name) == self.show[name]}
        self.arcs = {name: last.arcs[name] for name in kept}
        new = [name for name in self.show if name not in kept]
        for name, dump in zip(new, reader.ask(*("ring dump " + n for n in new))):
            self.arcs[name] = [owner for _, owner in dump]

    def same(self, other):
        return self.config == other.config and self.show == other.show


class Changes:
    """Random commands, some of them not to be granted."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def address(self, name, other=False):
        number = self.random.randint(1, 12)
        if (name == "six") != other:
            return "2001:db8:b::%x" % number
        return "198.51.100.%u" % number

    def some(self, name):
        # Now and then of the wrong family, or the same one twice.
        return [self.address(name, self.random.random() < 0.02) for _ in
                range(self.random.choice((1, 1, 1, 2, 3)))]

    def options(self):
        words = []
        if self.random.random() < 0.7:
            words += ["weight", str(self.random.choice(
                (0, 1, 10, 50, 90, 99, 100, 101, 200, 1000)))]
        if self.random.random() < 0.3:
            words += ["state", self.random.choice(("up", "drain", "down"))]
        return words

    def backend(self, verb):
        name = self.random.choice(NAMES)
        words = ["backend", verb]
        if verb in ("set", "drain", "del") and self.random.random() < 0.2:
            words += ["*"]
        else:
            words += [name]
        words += self.some(name)
        if verb in ("add", "replace"):
            words += self.options()
        elif verb == "set":
            words += self.options() or ["weight", "77"]
        return words, None

    def service(self):
        name = self.random.choice(NAMES)
        option = self.random.choice((
            ["balance", self.random.choice(("off", "1.02", "1.10", "1.50"))],
            ["balance", self.random.choice(("off", "1.05", "2.00"))],
            ["on-empty", "drop"], ["masquerade", "off"], ["points", "5"]))
        return ["service", "set", name, *option], None

    def file(self, config):
        """The configuration with lines gone, changed and new."""
        lines = []
        for line in config.splitlines():
            words = line.split()
            chance = self.random.random()
            if words[0] == "backend" and chance < 0.1:
                continue
            if words[0] == "backend" and chance < 0.2 and "weight" in words:
                words[words.index("weight") + 1] = str(self.random.randint(0, 300))
            if words[0] == "service" and chance < 0.1 and "balance" in words:
                words[words.index("balance") + 1] = "1.20"
            if words[:3] == ["service", "add", "direct"] and chance < 0.05:
                words[words.index("slots") + 1] = self.random.choice(
                    ("256", "1024", "512"))
            lines.append(" ".join(words))
        for name in NAMES:
            if self.random.random() < 0.2:
                lines.append("backend add %s %s" % (name, self.address(name)))
        if self.random.random() < 0.2:
            lines.append("service add late tcp 203.0.113.90:80 slots 256\n"
                         "backend add late 198.51.100.1")
        flag = ["--replace"] if self.random.random() < 0.5 else []
        return ["apply", *flag, "-"], "\n".join(lines) + "\n"

    def next(self, config):
        kind = self.random.choice(
            ("add", "add", "add", "replace", "replace", "set", "set", "set",
             "drain", "del", "service", "file"))
        if kind == "service":
            return self.service()
        if kind == "file":
            return self.file(config)
        return self.backend(kind)


def stretched(arcs, slots):
    """The same ring in so many slots, a multiple of its own."""
    times = slots // len(arcs)
    return arcs if times == 1 else [arc for arc in arcs for _ in range(times)]


class Round:
    def __init__(self, number, words, stdin):
        self.what = "round %u: %s" % (number, " ".join(words))
        self.words, self.stdin, self.bad = words, stdin, 0

    def complain(self, text, *args):
        self.bad += 1
        print("%s: %s" % (self.what, text % args))

    def expect(self, what, got, wanted):
        if got != wanted:
            self.complain("%s: plan %s, kernel %s", what, got, wanted)

    def plan(self, before):
        done = call("-j", "plan", *self.words, stdin=self.stdin)
        if not Rings(before.reader, before).same(before):
            self.complain("the plan has changed something")
        if done.returncode:
            return REFUSED, done
        return json.loads(done.stdout), done

    def compare_one(self, name, one, before, after):
        """A service that was there before and is after."""
        old, new = before.arcs[name], after.arcs[name]
        slots = max(len(old), len(new))
        old, new = stretched(old, slots), stretched(new, slots)
        pairs = collections.Counter(zip(old, new))
        moves = {pair: n for pair, n in pairs.items() if pair[0] != pair[1]}
        planned = one["moves"] if one else []
        self.expect(name + " moves",
                    {(m["from"], m["to"]): m["slots"] for m in planned},
                    moves)
        if not one:
            return
        moved = sum(moves.values())
        counts = collections.Counter(old)
        counts.subtract(new)
        least = sum(n for n in counts.values() if n > 0)
        self.near(name + " moved", one["moved"], moved / slots)
        self.near(name + " unavoidable", one["unavoidable"], least / slots)
        self.expect(name + " digest", one["digest_after"],
                    after.show[name]["digest"])
        self.expect(name + " digest before", one["digest_before"],
                    before.show[name]["digest"])
        self.expect(name + " peak before", one["peak_before"],
                    before.show[name]["peak"])
        self.expect(name + " peak", one["peak_after"],
                    after.show[name]["peak"])
        for side, rings in (("before", before), ("after", after)):
            shares = {(b["address"], b["port"]): (b["share"], b["target"])
                      for b in rings.show[name]["backends"]}
            self.expect(name + " shares " + side, {
                (b["address"], b["port"]):
                (b["share_" + side], b["target_" + side])
                for b in one["backends"] if b["share_" + side] is not None},
                shares)

    def near(self, what, a, b):
        if abs(a - b) > 1e-9:
            self.complain("%s: plan %s, kernel %s", what, a, b)

    def compare(self, planned, before, after):
        planned = {one["service"]: one for one in planned}
        for name in set(before.arcs) | set(after.arcs):
            one = planned.get(name)
            if name in before.arcs and name in after.arcs:
                self.compare_one(name, one, before, after)
            elif name in after.arcs:
                self.expect(name + ", new", one and (
                    one["moved"], one["digest_before"], one["digest_after"]),
                    (0, None, after.show[name]["digest"]))
            else:
                self.expect(name + ", gone", one and (
                    one["moved"], one["digest_after"]), (1, None))

    def run(self, before):
        planned, said = self.plan(before)
        done = call("-j", *self.words, stdin=self.stdin)
        if planned is REFUSED or done.returncode:
            self.expect("status", said.returncode, done.returncode)
            self.expect("refusal", said.stderr, done.stderr)
            return before, True
        after = Rings(before.reader, before)
        self.compare(planned, before, after)
        return after, False


def main():
    wanted, bad, made, refused, moved = int(sys.argv[1]), 0, 0, 0, 0
    call("flush")
    done = call("-b", "-", stdin=SERVICES)
    if done.returncode:
        sys.exit(done.stderr)
    changes, rings = Changes(4), Rings(Reader())
    while made < wanted:
        one = Round(made + refused, *changes.next(rings.config))
        before = rings
        rings, was_refused = one.run(rings)
        refused += was_refused
        made += not was_refused
        moved += rings.arcs != before.arcs
        bad += one.bad
        if one.stdin and one.bad:
            print(one.stdin)
    print("%u changes, %u of them moved something, %u more were refused, %u "
          "differences" % (made, moved, refused, bad))
    # Did nearly all move nothing, nothing would have been compared.
    sys.exit(bad > 0 or moved < wanted // 3 or not refused)


if __name__ == "__main__":
    main()
