#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a table and JSON of what guest.sh printed.

usage: report.py [--json FILE] CASES RAW

Figures are instructions a packet, net of what the generator takes, which is
measured apart for each family: it makes a packet, hands it to the receive path,
and IP drops it because of its MAC address.
"""

import argparse
import collections
import json
import sys

# What, case, at most so many times, what case.
GOALS = [
    ("route ring / forwarding", "route-ring-v4", 0.60, "forward-v4"),
    ("route ring / forwarding", "route-ring-v6", 0.60, "forward-v6"),
    ("route ring / IPVS new", "route-ring-v4", 0.25, "ipvs-dr-new-v4"),
    ("route ring / IPVS standing", "route-ring-v4", 0.34, "ipvs-dr-standing-v4"),
    ("route transition / ring", "route-transition-v4", 1.03, "route-ring-v4"),
    ("route transition / ring", "route-transition-v6", 1.03, "route-ring-v6"),
    ("route flow / IPVS, standing", "route-flow-standing-v4", 0.50, "ipvs-dr-standing-v4"),
    ("route flow / IPVS, new", "route-flow-new-v4", 0.50, "ipvs-dr-new-v4"),
    ("route flow / IPVS, standing", "route-flow-standing-v6", 0.50, "ipvs-dr-standing-v6"),
    ("route flow / IPVS, new", "route-flow-new-v6", 0.50, "ipvs-dr-new-v6"),
    ("ipip ring / IPVS tunnel standing", "ipip-ring-v4", 0.60, "ipvs-tun-standing-v4"),
    ("ipip ring / IPVS tunnel standing", "ipip-ring-v6", 0.60, "ipvs-tun-standing-v6"),
    ("ipip flow / IPVS tunnel new", "ipip-flow-new-v4", 0.60, "ipvs-tun-new-v4"),
    ("gue ring / IPVS tunnel standing", "gue-ring-v4", 0.60, "ipvs-tun-standing-v4"),
    ("gue ring / IPVS tunnel standing", "gue-ring-v6", 0.60, "ipvs-tun-standing-v6"),
    ("gue flow / IPVS tunnel new", "gue-flow-new-v4", 0.60, "ipvs-tun-new-v4"),
    ("nat / nft, standing", "nat-standing-v4", 1.2, "nft-standing-v4"),
    ("nat / nft, standing", "nat-standing-v6", 1.2, "nft-standing-v6"),
    ("nat with a flowtable / nft", "nat-flowtable-v4", 0.6, "nft-standing-v4"),
    ("nat with a flowtable / nft", "nat-flowtable-v6", 0.6, "nft-standing-v6"),
    ("1,000 backends / 1", "route-1000b-v4", 1.05, "route-1b-v4"),
    ("1,000 backends / 1", "route-1000b-v6", 1.05, "route-1b-v6"),
    ("1,000 services / 1", "route-1000s-v4", 1.05, "route-ring-v4"),
    ("1,000 services / 1", "route-1000s-v6", 1.05, "route-ring-v6"),
    ("10,000 services / 1", "route-10000s-v4", 1.05, "route-ring-v4"),
    ("10,000 services / 1", "route-10000s-v6", 1.05, "route-ring-v6"),
]

# What a change costs: what it is measured against, and at most how many times that.
CHANGES = {
    "apply-1x1000": ("restore-1x1000", 0.1),
    "apply-64-1x1000": ("restore-1x1000", 0.1),
    "apply-1000x10": ("restore-1000x10", None),
    "weight-5000s": ("ipvs-weight-5000s", None),
}

# At most so much more: of a packet that is for no service and is forwarded.
GOALS_MORE = [
    ("for no service, 1 service", "foreign-1s-v4", 130, "forward-v4"),
    ("for no service, 1 service", "foreign-1s-v6", 130, "forward-v6"),
    ("for no service, 10,000 services", "foreign-10000s-v4", 150, "forward-v4"),
    ("for no service, 10,000 services", "foreign-10000s-v6", 150, "forward-v6"),
]

FIELDS = ("contender", "family", "flows", "backends", "services", "affinity")


def read_cases(path):
    cases = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not words[0].startswith("#"):
                cases[words[0]] = dict(zip(FIELDS, words[1:]))
    return cases


def read_raw(path):
    """Instructions a packet, a repetition, of each case; nanoseconds a packet, a
    number of threads; what changes took, and what failed."""
    runs = collections.defaultdict(list)
    scale = collections.defaultdict(lambda: collections.defaultdict(list))
    changes = collections.defaultdict(list)
    failed = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["result"] and len(words) == 4:
                runs[words[1]].append(int(words[3]) / int(words[2]))
            elif words[:1] == ["scale"] and len(words) == 5:
                scale[words[1]][int(words[2])].append(int(words[4]) / int(words[3]))
            elif words[:1] == ["control"] and len(words) == 4:
                changes[words[1]].append((int(words[2]), int(words[3])))
            elif words[:1] == ["failed"]:
                failed[words[1]] = " ".join(words[2:])
    return runs, scale, changes, failed


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def version(case):
    """The end of the names of what it is compared with."""
    return ("-gro-v" if case["flows"] == "gro" else "-v") + case["family"]


def spread(values):
    """Of repetitions, in parts of their median."""
    if len(values) < 2:
        return None
    return round((max(values) - min(values)) / median(values), 5)


def measure(cases, runs, failed):
    """A row a case, in the order of the cases."""
    rows = {}
    for name, case in cases.items():
        if name not in runs or name in failed:
            continue
        generator = runs.get("none" + version(case))
        if not generator:
            failed[name] = "the generator was not measured"
            continue
        total = median(runs[name])
        rows[name] = {
            "case": name, **case, "total": round(total, 1),
            "net": round(total - median(generator), 1),
            "spread": spread(runs[name]),
            "repetitions": len(runs[name]),
        }
    return rows


def compare(rows):
    """Adds ratios to what each is measured against."""
    for row in rows.values():
        for key, name in (("forward", "forward"), ("ipvs_new", "ipvs-dr-new"),
                          ("ipvs_standing", "ipvs-dr-standing"),
                          ("nft_standing", "nft-standing"), ("nft_new", "nft-new")):
            other = rows.get(name + version(row))
            row[key] = (round(row["net"] / other["net"], 3)
                        if other and row["contender"] != "none" else None)


def goals(rows, failed):
    """Of what was measured or should have been."""
    found = []
    for what, name, most, against in GOALS + GOALS_MORE:
        if {name, against} - set(rows) - set(failed):
            continue
        value = None
        if name in rows and against in rows:
            value, other = rows[name]["net"], rows[against]["net"]
            value = round(value - other, 1) if most > 100 else round(value / other, 3)
        found.append({"goal": what, "case": name, "against": against, "most": most,
                      "value": value, "met": value is not None and value <= most})
    return found


def percent(value):
    return "-" if value is None else f"{100 * value:.2f}%"


def measure_changes(changes, failed):
    rows = {}
    for name, times in changes.items():
        if name not in failed:
            spent = [time[0] for time in times]
            rows[name] = {"case": name, "instructions": median(spent),
                          "elapsed": median([time[1] for time in times]),
                          "spread": spread(spent),
                          "repetitions": len(times)}
    return rows


def goals_changes(rows, failed):
    found = []
    for name, (against, most) in CHANGES.items():
        if most is None or {name, against} - set(rows) - set(failed):
            continue
        value = None
        if name in rows and against in rows:
            value = round(rows[name]["instructions"] / rows[against]["instructions"], 4)
        found.append({"goal": "changes / IPVS", "case": name, "against": against,
                      "most": most, "value": value, "met": value is not None and value <= most})
    return found


def table_changes(rows):
    if rows:
        print(f"\nchanges: millions of instructions, and of nanoseconds with waits\n\n"
              f"{'case':<24}{'instr.':>9}{'spread':>8}{'elapsed':>9}{'/IPVS':>9}")
    for name, row in rows.items():
        other = rows.get(CHANGES.get(name, ("",))[0])
        ratio = f"{row['instructions'] / other['instructions']:.4f}" if other else "-"
        print(f"{name:<24}{row['instructions'] / 1e6:>9.2f}{percent(row['spread']):>8}"
              f"{row['elapsed'] / 1e6:>9.2f}{ratio:>9}")


def table_scale(scale):
    """By how many times the packets of one CPU are exceeded, in the best repetition;
    beside it the same over that of forwarding, which shares nothing either."""
    rows = []
    if scale:
        print("packets a second, in those of one CPU; the best of "
              f"{len(next(iter(scale.values()))[1])} repetitions\n\n"
              f"{'case':<24}{'CPUs':>5}{'times':>7}{'median':>8}{'/fwd':>7}")
    for name, threads in scale.items():
        forward = scale.get("forward" + name[-3:], {})
        for count, times in sorted(threads.items()):
            row = {"case": name, "cpus": count,
                   "times": round(min(threads[1]) / min(times), 3),
                   "median": round(median(threads[1]) / median(times), 3),
                   "forward": None}
            if count in forward:
                row["forward"] = round(row["times"] * min(forward[count]) /
                                       min(forward[1]), 3)
            rows.append(row)
            ratio = "-" if row["forward"] is None else f"{row['forward']:.2f}"
            print(f"{name:<24}{count:>5}{row['times']:>7.2f}{row['median']:>8.2f}{ratio:>7}")
    return rows


def table(rows):
    def ratio(value):
        return "-" if value is None else f"{value:.2f}"

    if not rows:
        return
    print("instructions a packet, net of the generator (none: the generator alone)\n")
    print(f"{'case':<24}{'net':>7}{'spread':>8}{'/fwd':>7}{'/IPVS new':>10}"
          f"{'/standing':>10}{'/nft new':>9}{'/standing':>10}")
    for row in rows.values():
        net = row["total"] if row["contender"] == "none" else row["net"]
        print(f"{row['case']:<24}{net:>7.0f}{percent(row['spread']):>8}"
              f"{ratio(row['forward']):>7}{ratio(row['ipvs_new']):>10}"
              f"{ratio(row['ipvs_standing']):>10}{ratio(row['nft_new']):>9}"
              f"{ratio(row['nft_standing']):>10}")


def table_goals(found):
    if found:
        print(f"\n{'goal':<34}{'case':<24}{'at most':>8}{'is':>8}")
    for goal in found:
        value = "-" if goal["value"] is None else f"{goal['value']:.4g}"
        print(f"{goal['goal']:<34}{goal['case']:<24}{goal['most']:>8g}{value:>8}"
              f"  {'met' if goal['met'] else 'NOT MET'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("cases")
    parser.add_argument("raw")
    args = parser.parse_args()

    cases = read_cases(args.cases)
    runs, scale, changes, failed = read_raw(args.raw)
    rows = measure(cases, runs, failed)
    compare(rows)
    changes = measure_changes(changes, failed)
    found = goals(rows, failed) + goals_changes(changes, failed)
    table(rows)
    table_changes(changes)
    scale = table_scale(scale)
    table_goals(found)
    for name, why in failed.items():
        print(f"\nFAILED: {name}: {why}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"unit": "instructions a packet", "cases": list(rows.values()),
                       "scale": scale, "changes": list(changes.values()),
                       "goals": found, "failed": failed}, file, indent=1)
            file.write("\n")
    return 1 if failed or not (rows or changes or scale) else 0


if __name__ == "__main__":
    sys.exit(main())
