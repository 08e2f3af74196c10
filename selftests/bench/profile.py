#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says which functions a packet's instructions are in.

usage: profile.py [--least N] [--lines KO] [--stores] RAW COUNTS

RAW is what guest.sh printed, COUNTS what the plugin of profile.c wrote. Of each
case: instructions a packet, less those of the generator alone; functions that
make no difference are left out. With --lines also the lines of the module. With
--stores also which memory those functions write to.
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

# Who makes packets: what they write to is a packet. And pktgen.
MAKERS = {"__alloc_skb", "__finalize_skb_around", "tun_get_user", "rep_movs_alternative"}
# Who zeroes what is allocated, each of its instructions a line once.
ZEROES = {"memset_orig"}
# Who counts in the task that runs, and writes to nothing else.
TASK = {"__rcu_read_lock"}
CLASSES = "task", "per-CPU", "packet", "other"
# Where symbols of data are: what is allocated is below.
IMAGE = 0xffffffff80000000


class Symbols:
    def __init__(self):
        self.known = []
        self.sections = {}
        self.percpu = []

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

    def place(self, address):
        start, name, _ = self.known[bisect.bisect_right(self.addresses, address) - 1]
        return f"{name}+{address - start:#x}"


def read_raw(path):
    symbols = Symbols()
    data = Symbols()
    counted = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["symbol"]:
                symbols.add(words)
            elif words[:1] == ["section"]:
                symbols.sections[words[1]] = int(words[2], 16)
            elif words[:1] == ["data"]:
                data.add(words)
            elif words[:1] == ["percpu"]:
                symbols.percpu.append((int(words[1], 16), int(words[2], 16)))
            elif words[:1] == ["counted"]:
                counted.append((words[1], int(words[2])))
            elif words[:1] == ["failed"]:
                print("FAILED:", *words[1:])
    symbols.ready()
    data.ready()
    return symbols, data, counted


def read_counts(path):
    """Of each period: a dictionary of address to count; and address, count, line of
    what wrote to memory, and whether that pushed something."""
    counts, stores = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line == "end\n":
                yield counts, stores
                counts, stores = {}, []
                continue
            address, count, *store = line.split()
            if store:
                stores.append((int(address, 16), int(count), int(store[0], 16),
                               len(store) > 1))
            else:
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


def classify(symbols, stores):
    """Class of each line. Other: neither of the task or a stack, nor in the memory of
    the CPU, nor written by who makes packets, nor allocated anew for each: no
    instruction writes to it more than twice each time that it is zeroed."""
    stacks = {line >> 12 for _, _, line, pushed in stores if pushed}
    task, packet = set(), set()
    zeroed, written = collections.Counter(), collections.Counter()
    for address, count, line, _ in stores:
        function, module = symbols.find(address)
        if function in TASK:
            task.add(line)
        elif function in MAKERS or module == "pktgen":
            packet.add(line)
        most = zeroed if function in ZEROES else written
        most[line] = max(most[line], count)

    def of(line):
        if line >> 12 in stacks or line in task:
            return "task"
        if any(start <= line < end for start, end in symbols.percpu):
            return "per-CPU"
        if line in packet or 2 * zeroed[line] >= max(written[line], 1):
            return "packet"
        return "other"
    return {line: of(line) for line in {store[2] for store in stores}}


def path_of(symbols, counts, sums, net, packets):
    """The module's functions; and those that most packets run through and that do at
    least a tenth more than for the generator alone, which is not due to a timer."""
    called = collections.Counter()
    for start, *function in symbols.known:
        called[tuple(function)] += counts.get(start, 0)
    return {f for f in sums if f[1] == "chsteer" or
            called[f] >= packets / 2 and net[f] >= sums[f] / 10}


def show_stores(symbols, data, stores, functions, packets):
    """Those of these functions that write."""
    classes = classify(symbols, stores)
    sums, lines = collections.Counter(), collections.defaultdict(set)
    other, writers = collections.Counter(), collections.defaultdict(set)
    for address, count, line, _ in stores:
        function = symbols.find(address)
        if function not in functions:
            continue
        for row in function, ("in all", ""):
            sums[row, classes[line]] += count
            lines[row, classes[line]].add(line)
        if classes[line] == "other":
            other[line] += count
            writers[line].add(symbols.place(address))

    print("\nstores a packet/different lines of the cache that they are in\n")
    print("".join(f"{name:>14}" for name in CLASSES))
    for row in [*sorted(functions, key=lambda f: (f[1] != "chsteer", f)), ("in all", "")]:
        cells = [f"{sums[row, c] / packets:.2f}/{len(lines[row, c])}" if sums[row, c] else "-"
                 for c in CLASSES]
        if set(cells) != {"-"}:
            print("".join(f"{cell:>14}" for cell in cells),
                  f" {row[0]}{f' [{row[1]}]' if row[1] else ''}")
    print(f"\nother lines: {len(other)}{', the most often written:' if other else ''}")
    for line, count in other.most_common(10):
        near = f" near {data.place(line)}" if line >= IMAGE else ""
        print(f"{count:>7} stores  {line:x}{near} by {' '.join(sorted(writers[line]))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=float, default=1.0)
    parser.add_argument("--lines", metavar="KO")
    parser.add_argument("--stores", action="store_true")
    parser.add_argument("raw")
    parser.add_argument("counts")
    args = parser.parse_args()

    symbols, data, counted = read_raw(args.raw)
    generator = {}
    shown = 0
    for (name, packets), (counts, stores) in zip(counted, read_counts(args.counts)):
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
        if args.stores:
            show_stores(symbols, data, stores,
                        path_of(symbols, counts, sums, net, packets), packets)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
