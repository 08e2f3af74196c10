#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Says what kmemleak has found and who is to blame.

usage: leaks.py MARKS LOADS MODULE.ko < /sys/kernel/debug/kmemleak

MARKS has a line "JIFFIES SCRIPT" for each script, from when it began: objects
belong to the script in whose time they were allocated. LOADS has a line
"SECTION ADDRESS" for each section of code each time that the module was loaded:
after it has gone the kernel cannot name its functions any more.

What the module has to do with is "not ok"; the rest is a diagnostic.
"""

import collections
import re
import subprocess
import sys

SHOWN = 4       # objects shown of those that are allocated alike


def symbols(module):
    """Functions of the module, by section: [(offset, name)]."""
    out = subprocess.run(["objdump", "-t", module], capture_output=True, text=True,
                         check=True).stdout
    found = collections.defaultdict(list)
    for line in out.splitlines():
        match = re.match(r"([0-9a-f]{16}) .{7} (\S+)\s+[0-9a-f]{16} (?:\.\S+ )?(\S+)$", line)
        if match and "text" in match[2] and match[2] != match[3]:
            found[match[2]].append((int(match[1], 16), match[3]))
    return {section: sorted(names) for section, names in found.items()}


def sizes(module):
    out = subprocess.run(["objdump", "-hw", module], capture_output=True, text=True,
                         check=True).stdout
    return {words[1]: int(words[2], 16) for words in map(str.split, out.splitlines())
            if len(words) > 6 and words[0].isdigit()}


class Names:
    def __init__(self, loads, module):
        self.symbols = symbols(module)
        self.ranges = []
        size = sizes(module)
        with open(loads, encoding="utf-8") as f:
            for line in f:
                section, address = line.split()
                start = int(address, 16)
                self.ranges.append((start, start + size.get(section, 0), section))
        # The latest that was there, if several were.
        self.ranges.reverse()

    def name(self, address):
        for start, end, section in self.ranges:
            if start <= address < end:
                best = None
                for offset, name in self.symbols.get(section, ()):
                    if offset <= address - start:
                        best = f"{name}+{address - start - offset:#x}"
                return f"{best or section} [chsteer]"
        return f"{address:#x} [gone]"


def objects(text):
    """(header lines, jiffies, size, addresses or symbols) of each object."""
    for part in re.split(r"^(?=unreferenced )", text, flags=re.M):
        match = re.search(r"\(size (\d+)\):\n.*?jiffies (\d+)", part, re.S)
        if match:
            head, _, trace = part.partition("  backtrace")
            yield head, int(match[2]), int(match[1]), \
                [line.strip() for line in trace.splitlines()[1:]]


def main():
    marks_file, loads, module = sys.argv[1:]
    with open(marks_file, encoding="utf-8") as f:
        marks = [(int(words[0]), words[1]) for words in map(str.split, f)]
    names = None
    groups = collections.defaultdict(list)
    for head, jiffies, size, trace in objects(sys.stdin.read()):
        named = []
        for line in trace:
            match = re.fullmatch(r"(?:\[<.*?>\] )?0x([0-9a-f]+)", line)
            if match:
                names = names or Names(loads, module)
                line = names.name(int(match[1], 16))
            named.append(line)
        script = ""
        for began, name in marks:
            if began <= jiffies:
                script = name
        groups[script, tuple(named)].append((head, size))
    for (script, trace), found in groups.items():
        ours = any("[chsteer]" in line or "[gone]" in line for line in trace)
        total = sum(size for _, size in found)
        if ours and script:
            print(f"not ok - {script}: leaks {len(found)} objects, {total} bytes")
        elif ours:
            print(f"not ok - leaks {len(found)} objects, {total} bytes")
        else:
            print(f"# {len(found)} objects, {total} bytes, seem lost to the kernel"
                  f" itself, {'since ' + script if script else 'early'}:")
        for head, _ in found[:SHOWN]:
            for line in head.splitlines():
                print(f"# {line}")
        for line in trace:
            print(f"#     {line}")


if __name__ == "__main__":
    main()
