#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# Every refusal, asked for in raw netlink past the tool, with error, attribute
# and the whole sentence; nothing changes by one. Cases C-007, C-036, C-061,
# C-066, C-070, C-078, C-079, C-080.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

refuse=$CHS_LIB/net/nl_refuse.py

state()
{
	chctl save
	chctl ring digest
	chctl -j service show
}

refusals()
{
	local before

	before=$(state) || chs_fail "no state"
	chs_cmd_ok "$refuse" "$1"
	chs_expect "state, as the tool sees it" "$(state)" "$before"
}

chs_setup
chs_run "services to run into" chs_cmd_ok "$refuse" setup
chs_run "names of services" refusals names
chs_run "services that exist, keys, protocols, ports" refusals services
chs_run "options of services" refusals options
chs_run "options and backends of the direct modes" refusals direct
chs_run "addresses that nobody may have" refusals addresses
chs_run "backends" refusals backends
chs_run "more points than a ring may have" refusals limits
chs_run "questions" refusals reads
chs_run "transactions" refusals transactions
chs_run "lists" refusals dumps
chs_done
