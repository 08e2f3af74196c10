#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says which functions a packet's instructions are in.

usage: profile.py [--least N] [--lines KO] RAW COUNTS

RAW is what guest.sh printed, COUNTS what the plugin of profile.c wrote. Of each
case: instructions a packet, less those of the generator alone; functions that
make no difference are left out. With --lines also the lines of the module.
"""

import argparse
import bisect
import collections
import subprocess
import sys


# What a packet runs through once its header is complete, whoever made it so.
TRANSMIT = {
    "__dev_queue_xmit", "consume_skb", "dev_hard_start_xmit", "dummy_xmit",
    "netdev_core_pick_tx", "netif_skb_features", "skb_clone_tx_timestamp",
    "skb_network_protocol", "validate_xmit_skb", "validate_xmit_xfrm",
}


class Symbols:
    def __init__(self):
        self.known = []
        self.sections = {}

    def add(self, words):
        module = words[3].strip("[]") if len(words) > 3 else ""
        self.known.append((int(words[1], 16), words[2], module))

    def ready(self):
        self.known.sort()
        self.addresses = [symbol[0] for symbol in self.known]

    def find(self, address):
        """Function and module."""
        if not address:
            return "programs", ""
        index = bisect.bisect_right(self.addresses, address) - 1
        return self.known[index][1:] if index >= 0 else (hex(address), "")


def read_raw(path):
    symbols = Symbols()
    counted = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["symbol"]:
                symbols.add(words)
            elif words[:1] == ["section"]:
                symbols.sections[words[1]] = int(words[2], 16)
            elif words[:1] == ["counted"]:
                counted.append((words[1], int(words[2])))
            elif words[:1] == ["failed"]:
                print("FAILED:", *words[1:])
    symbols.ready()
    return symbols, counted


def read_counts(path):
    """A dictionary of address to count for each period."""
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line == "end\n":
                yield counts
                counts = {}
            else:
                address, count = line.split()
                counts[int(address, 16)] = int(count)


def by_function(symbols, counts, packets):
    sums = collections.Counter()
    for address, count in counts.items():
        sums[symbols.find(address)] += count / packets
    return sums


def by_line(symbols, counts, packets, ko):
    """Of what is in the module: file and line, the innermost of inlined code."""
    sums = collections.Counter()
    for section, start in symbols.sections.items():
        here = [a for a in counts if symbols.find(a)[1] == "chsteer" and
                section_of(symbols, a) == section]
        if not here:
            continue
        out = subprocess.run(["addr2line", "-j", section, "-e", ko],
                             input="".join(f"{a - start:x}\n" for a in here),
                             capture_output=True, text=True, check=True).stdout
        for address, place in zip(here, out.splitlines()):
            place = place.split(" (")[0]
            sums["/".join(place.split("/")[-2:])] += counts[address] / packets
    return sums


def section_of(symbols, address):
    below = [(start, name) for name, start in symbols.sections.items() if start <= address]
    return max(below)[1] if below else None


def show(name, net, generator, least):
    modules = collections.Counter()
    print(f"\n{name}: {sum(net.values()):.0f} instructions a packet,"
          f" net of the generator's {generator:.0f}\n" if generator else
          f"\n{name}: {sum(net.values()):.0f} instructions\n")
    rest = 0
    for (function, module), value in sorted(net.items(), key=lambda item: -item[1]):
        modules[module or "kernel"] += value
        if abs(value) < least:
            rest += value
            continue
        print(f"{value:>9.1f}  {function}{f' [{module}]' if module else ''}")
    print(f"{rest:>9.1f}  all others")
    print()
    for module, value in modules.most_common():
        if abs(value) >= least:
            print(f"{value:>9.1f}  {module}, in all")
    if generator:
        transmit = sum(value for (function, _), value in net.items() if function in TRANSMIT)
        print(f"{transmit:>9.1f}  transmit: what follows the neighbour's output")
        print(f"{sum(net.values()) - transmit:>9.1f}  all but transmit")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=float, default=1.0)
    parser.add_argument("--lines", metavar="KO")
    parser.add_argument("raw")
    parser.add_argument("counts")
    args = parser.parse_args()

    symbols, counted = read_raw(args.raw)
    generator = {}
    shown = 0
    for (name, packets), counts in zip(counted, read_counts(args.counts)):
        # What came before, to be done with what happens once.
        if name == "-":
            continue
        sums = by_function(symbols, counts, packets)
        kind = ("-gro" if "-gro-" in name else "") + name[-3:]
        if name == "none" + kind:
            generator[kind] = sums
            continue
        base = generator.get(kind, collections.Counter())
        net = collections.Counter(sums)
        net.subtract(base)
        # A change is not so many instructions a packet.
        least = args.least if packets > 1 else sum(net.values()) / 1000
        if packets == 1:
            base = collections.Counter()
            net = sums
        show(name, net, sum(base.values()), least)
        shown += 1
        if args.lines:
            lines = by_line(symbols, counts, packets, args.lines)
            print()
            for place, value in sorted(lines.items(), key=lambda item: -item[1]):
                if value >= 4 * least:
                    print(f"{value:>9.1f}  {place}")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
