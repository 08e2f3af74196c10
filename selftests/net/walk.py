#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Lists of flows, message by message.

walk.py grows COUNT
        a list of some flows of service "w"; after its first messages there are
        COUNT more. What there was at first has to be in it.
"""

import os
import time

import flood
import frames as f
from genl import C, Genl, Reply, parse, NLM_F_DUMP

FEW = 4096
FIRST = 5               # messages before there are more


def keys(reply):
    return {parse(message)[C["A_FLOW"]] for message in reply.messages}


def listed(nl, meanwhile=None):
    reply = Reply()
    nl.send(nl.message("flow-get", b"", NLM_F_DUMP))
    for _ in range(FIRST):
        nl.receive(reply)
    f.expect("the list is long", reply.ended, False)
    if meanwhile:
        meanwhile()
    while not reply.ended:
        nl.receive(reply)
    f.expect("end of the list", reply.code, "0")
    return keys(reply)


def tracked():
    return f.stats("lb", "w")["tracked_flows"]


def fill(count, seed):
    want = tracked() + count
    flood.udp(4, 53, count, seed)
    end = time.monotonic() + 2 * f.TIMEOUT
    while tracked() != want and time.monotonic() < end:
        time.sleep(0.05)
    f.expect("flows", tracked(), want)


def grows(count):
    f.setns(os.open("/run/netns/" + f.NETNS["lb"], os.O_RDONLY))
    nl = Genl()
    f.setns(f.HOME)
    fill(FEW, 0)
    before = listed(nl)
    f.expect("flows before", len(before), FEW)
    after = listed(nl, lambda: fill(int(count), 1))
    f.expect(f"flows of {FEW} that are not in the list", len(before - after), 0)


if __name__ == "__main__":
    f.main({"grows": grows})
