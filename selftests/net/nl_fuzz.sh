#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# C-066: malformed requests of every command. The seed is fixed; another one
# comes with CHS_TEST_SEED, more rounds with CHS_TEST_ROUNDS.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

fuzz()
{
	chs_cmd_ok "$CHS_LIB/net/nl_fuzz.py" "$@"
	chs_cmd_ok chctl service show
	dmesg | grep -E "$KMSG_BAD" && chs_fail "the kernel complains"
	return "$CHS_RET"
}

chs_setup
chs_run "service-new" fuzz attributes service-new
chs_run "service-set, -del, -get" fuzz attributes service-set service-del service-get
chs_run "backend-new" fuzz attributes backend-new
chs_run "backend-set, -del, -get" fuzz attributes backend-set backend-del backend-get
chs_run "ring-get, lookup, info-get" fuzz attributes ring-get lookup info-get
chs_run "transactions, flush" fuzz attributes txn-begin txn-commit txn-abort flush
chs_run "commands that there are not, lists" fuzz headers
chs_run "random bytes" fuzz random "${CHS_TEST_SEED:-20240229}" \
	"${CHS_TEST_ROUNDS:-$(chs_amount 1500)}"
chs_done
