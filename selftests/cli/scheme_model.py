#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What others do instead of the ring, written a second time from their papers.

Slow and plain on purpose; the tool must give the same. Failures are tried on the
ring of unit/ring_model.py.

    scheme_model.py            print the vectors
    scheme_model.py --check    compare them with vectors/schemes.tsv
    scheme_model.py --write    replace vectors/schemes.tsv
"""

import argparse
import fractions
import itertools
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "unit"))

import ring_model as ring  # noqa: E402

VECTORS = HERE / "vectors" / "schemes.tsv"

MASK = (1 << 64) - 1
MAGLEV_SLOTS = 65537


def identity(i):
    return ring.identity("10.0.0.%d" % (i + 1), 443)


def name_hash(i, which):
    return ring.point(ring.KEY_DEFAULT, identity(i), which)


def maglev(weights):
    """The pseudocode of section 3.4; a weight is a share of rounds."""
    m = MAGLEV_SLOTS
    permutation = []
    for i in range(len(weights)):
        offset = name_hash(i, 0) % m
        skip = name_hash(i, 1) % (m - 1) + 1
        permutation.append([(offset + j * skip) % m for j in range(m)])
    following = [0] * len(weights)
    entry = [-1] * m
    n = 0
    for turn in itertools.count(1):
        for i, weight in enumerate(weights):
            if turn * weight // max(weights) == (turn - 1) * weight // max(weights):
                continue
            c = permutation[i][following[i]]
            while entry[c] >= 0:
                following[i] += 1
                c = permutation[i][following[i]]
            entry[c] = i
            following[i] += 1
            n += 1
            if n == m:
                return entry


def mix(x):
    """The finalizer of SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rendezvous(weights, key):
    def score(i):
        fraction = ((mix(key ^ name_hash(i, 0)) >> 12) + 0.5) / 2**52
        return -weights[i] / math.log(fraction)
    return max(range(len(weights)), key=score)


def jump(key, n):
    """The paper's first version, by fractions, with its random numbers."""
    b, j = -1, 0
    while j < n:
        b = j
        key = (key * 2862933555777941757 + 1) & MASK
        r = fractions.Fraction((key >> 33) + 1, 2**31)
        j = (b + 1) // r
    return b


def failures(weights, points, slots, k):
    """For each survivor the most arcs that it may get, and who fails then."""
    ends = [("10.0.0.%d" % (i + 1), 443) for i in range(len(weights))]
    worst = {}
    for failed in itertools.combinations(range(len(weights)), k):
        left = [(*ends[i], w) for i, w in enumerate(weights) if i not in failed]
        shares = ring.Ring(left, points, 100, slots).shares()
        for i in range(len(weights)):
            arcs = shares.get(identity(i), 0) if i not in failed else -1
            if arcs > worst.get(i, (-1,))[0]:
                worst[i] = arcs, failed
    return worst


def fnv(entry):
    """FNV-1a of the owners, 16 bits each."""
    digest = 0xCBF29CE484222325
    for owner in entry:
        digest = ((digest ^ owner) * 0x100000001B3) & MASK
    return digest


SETS = [[100], [100] * 2, [100] * 5, [1, 10, 100], [100] * 10,
        [100, 50, 100, 7, 300, 1]]


def joined(numbers):
    return ",".join(map(str, numbers))


def vectors():
    yield "# Made by scheme_model.py; backends are 10.0.0.1:443 and those after it."
    yield "# maglev weights digest"
    yield "# rendezvous weights key owner"
    yield "# jump key buckets bucket"
    yield "# failures weights points slots how-many survivor arcs failed"
    numbers = ring.Numbers(b"scheme")
    for weights in SETS:
        yield "maglev %s %016x" % (joined(weights), fnv(maglev(weights)))
    for weights in SETS[1:]:
        for _ in range(60):
            key = numbers.below(2**64)
            yield "rendezvous %s %016x %d" % (joined(weights), key,
                                              rendezvous(weights, key))
    for n in (1, 2, 3, 5, 10, 100, 1000, 4096):
        for _ in range(30):
            key = numbers.below(2**64)
            yield "jump %016x %d %d" % (key, n, jump(key, n))
    weights = [100, 100, 50, 100, 200]
    for k in (1, 2):
        for i, (arcs, failed) in failures(weights, 40, 1024, k).items():
            yield "failures %s 40 1024 %d %d %d %s" % (joined(weights), k, i, arcs,
                                                       joined(failed))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true",
                        help="compare with the file")
    parser.add_argument("--write", action="store_true",
                        help="replace the file")
    args = parser.parse_args()

    now = "".join(line.replace(" ", "\t") + "\n" if line[0] != "#" else
                  line + "\n" for line in vectors())
    if args.write:
        VECTORS.write_text(now)
    elif not args.check:
        sys.stdout.write(now)
    elif VECTORS.read_text() != now:
        sys.exit("%s: differs from the model" % VECTORS)
    else:
        print("%s: %d lines as the model has them"
              % (VECTORS.name, now.count("\n")))


if __name__ == "__main__":
    main()
