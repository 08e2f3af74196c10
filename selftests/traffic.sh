# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests with traffic share, beyond lib.sh: the tool in namespace lb,
# names for addresses of both families, and single values out of its answers.
# Sourced, after lib.sh.

# chs_ctl ARGUMENT...: the tool, at work on namespace lb
chs_ctl()
{
	chctl -n "${CHS_NS[lb]}" "$@"
}

# chs_batch: commands of the tool, from stdin, in one process
chs_batch()
{
	chctl -n "${CHS_NS[lb]}" -b -
}

# chs_vip FAMILY, chs_cl FAMILY, chs_be FAMILY I: addresses
chs_vip() { [[ $1 == 4 ]] && echo "$CHS_VIP4" || echo "$CHS_VIP6"; }
chs_cl() { [[ $1 == 4 ]] && echo "$CHS_CL4" || echo "$CHS_CL6"; }
chs_be() { if [[ $1 == 4 ]]; then chs_b4 "$2"; else chs_b6 "$2"; fi; }

# chs_ep ADDRESS PORT: an endpoint as the tool writes it
chs_ep()
{
	if [[ $1 == *:* ]]; then
		echo "[$1]:$2"
	else
		echo "$1:$2"
	fi
}

# chs_word KEY TEXT: the word that follows KEY
chs_word()
{
	[[ " $2 " =~ " $1 "([^ ]+) ]] && echo "${BASH_REMATCH[1]}"
}

# chs_stat SERVICE KEY: one counter
chs_stat()
{
	chs_word "$2" "$(chs_ctl stats "$1")"
}

# chs_be_stat SERVICE ENDPOINT KEY: one value of a backend
chs_be_stat()
{
	local line

	while read -r line; do
		[[ " $line " == *" $2 "* ]] || continue
		chs_word "$3" "$line"
		return
	done < <(chs_ctl backend show "$1")
	return 1
}

# chs_grows SERVICE KEY FROM: whether a counter has gone beyond
chs_grows()
{
	(($(chs_stat "$1" "$2") > $3))
}

# chs_answers WHAT KEY=VALUE...: what the last answer of conns.py must say
chs_answers()
{
	local what=$1 pair

	shift
	for pair in "$@"; do
		[[ " $CHS_OUT " == *" $pair "* ]] ||
			chs_expect "$what: ${pair%=*}" \
				"$(chs_conns_get "${pair%=*}")" "${pair#*=}"
	done
	return 0
}

# chs_no_answer WHAT BACKEND: nothing came from that one
chs_no_answer()
{
	chs_expect "$1: answers of $2" "$(chs_conns_get "$2")" 0
}
