#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What belongs to others stays (C-034): services of IPVS and translations of
# nftables on the same address, their connections, and conntrack entries of
# other namespaces.
#
#   cl ─── lb ─── sw ─── b1, b2
#
#   VIP:80 chsteer    VIP:81 IPVS    VIP:82 nftables    b1:80 nobody

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

COUNT=10

ours()
{
	local f

	for f in 4 6; do
		echo "service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add dns$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
		echo "backend add web$f $(chs_be "$f" 1) $(chs_be "$f" 2)"
		echo "backend add dns$f $(chs_be "$f" 1) $(chs_be "$f" 2)"
	done
}

topology()
{
	local f i

	chs_topo_t1 2 || return
	chs_in lb sysctl -qw net.ipv4.vs.conntrack=1
	for f in 4 6; do
		echo "-A -t $(chs_ep "$(chs_vip "$f")" 81) -s rr"
		for i in 1 2; do
			echo "-a -t $(chs_ep "$(chs_vip "$f")" 81)" \
				"-r $(chs_ep "$(chs_be "$f" "$i")" 80) -m"
		done
	done | chs_in lb ipvsadm -R || return
	chs_in lb nft -f - <<- EOF || return
		add table inet t
		add chain inet t d { type nat hook prerouting priority dstnat; }
		add rule inet t d ip daddr $CHS_VIP4 tcp dport 82 dnat ip to $(chs_b4 1):80
		add rule inet t d ip6 daddr $CHS_VIP6 tcp dport 82 dnat ip6 to [$(chs_b6 1)]:80
	EOF
	ours > "$CHS_TMP/ours"
	chs_cmd_ok chs_ctl apply "$CHS_TMP/ours"
	chs_serve tcp:80,udp:53 b1 b2 || return
	for i in web ipvs nft plain; do
		chs_conns_start "$i" cl
	done
}

open()
{
	local f=$1

	chs_conns web open tcp "$(chs_vip "$f")" 80 "$COUNT"
	chs_answers chsteer answered="$COUNT"
	chs_conns ipvs open tcp "$(chs_vip "$f")" 81 "$COUNT"
	chs_answers IPVS answered="$COUNT" b1=$((COUNT / 2)) b2=$((COUNT / 2))
	chs_conns nft open tcp "$(chs_vip "$f")" 82 "$COUNT"
	chs_answers nftables answered="$COUNT" b1="$COUNT"
	chs_conns plain open tcp "$(chs_be "$f" 1)" 80 "$COUNT"
	chs_answers "nobody's" answered="$COUNT" b1="$COUNT"
}

# theirs WHAT: their connections are all there, as conntrack has it, too
theirs()
{
	local id total=$((2 * COUNT))

	for id in ipvs nft plain; do
		chs_conns "$id" exchange
		chs_answers "$id, after $1" answered="$total" moved=0 broken=0
	done
}

# entries NAME [CONNTRACK-OPTION...]: how many a namespace has
entries()
{
	chs_in "$1" conntrack -L "${@:2}" 2> /dev/null | wc -l
}

theirs_at_rest()
{
	(chs_in lb ipvsadm -Sn; chs_in lb nft list ruleset) > "$CHS_TMP/now"
	diff "$CHS_TMP/then" "$CHS_TMP/now" || chs_fail "changed by $1"
}

# Entries that are alike to the last bit, in another namespace, and ones of the
# same addresses and another port, in this one.
lookalikes()
{
	local f=$1 vip cl b1 name port

	vip=$(chs_vip "$f") cl=$(chs_cl "$f") b1=$(chs_be "$f" 1)
	for name in lb sw; do
		for port in 53 54; do
			chs_cmd_ok chs_in "$name" conntrack -I -p udp -t 600 -u SEEN_REPLY \
				-s "$cl" -d "$vip" --sport 1234 --dport "$port" \
				--dst-nat "$b1"
		done
	done
	chs_expect "said of it" "$(chs_word reason "$(chs_ctl lookup udp \
		"$(chs_ep "$cl" 1234)" "$(chs_ep "$vip" 53)")")" conntrack
	chs_cmd_ok chs_ctl service del "dns$f"
	chs_expect "entries of the service" \
		"$(entries lb -f "ipv$f" -p udp --orig-port-dst 53)" 0
	chs_expect "entries of another port" \
		"$(entries lb -f "ipv$f" -p udp --orig-port-dst 54)" 1
	chs_expect "entries of another namespace" \
		"$(entries sw -f "ipv$f" -p udp)" 2
}

flush()
{
	local f

	chs_cmd_ok chs_ctl apply "$CHS_TMP/ours"
	theirs apply
	chs_conns web exchange
	chs_answers "ours, after apply" answered=$((2 * COUNT)) moved=0 broken=0
	chs_cmd_ok chs_ctl flush
	theirs flush
	theirs_at_rest flush
	# Ours are gone, and what is sent on is for the host, where nobody is.
	chs_conns web exchange
	chs_answers "ours, after flush" answered=0 reset=$((2 * COUNT))
	chs_conns web forget
	for f in 4 6; do
		chs_expect "entries of ours, IPv$f" "$(chs_in lb conntrack -L \
			-f "ipv$f" -d "$(chs_vip "$f")" -p tcp 2> /dev/null |
			grep -c 'dport=80 src=\(198.51.100\|2001:db8:b\)')" 0
	done
}

unload()
{
	chs_cmd_ok chs_ctl apply "$CHS_TMP/ours"
	chs_unload || chs_fail "does not unload"
	theirs unload
	theirs_at_rest unload
	chs_load || chs_fail "does not load"
	theirs load
}

fresh()
{
	local f

	for f in 4 6; do
		chs_conns ipvs open tcp "$(chs_vip "$f")" 81 2
		chs_answers "IPVS, new" answered=2
		chs_conns nft open tcp "$(chs_vip "$f")" 82 2
		chs_answers "nftables, new" answered=2
	done
}

chs_require_cmd ipvsadm nft conntrack
modprobe -q ip_vs || chs_skip_all "the kernel has no ip_vs"
chs_setup
chs_run "topology" topology
(chs_in lb ipvsadm -Sn; chs_in lb nft list ruleset) > "$CHS_TMP/then"
for f in 4 6; do
	chs_run "IPv$f: everybody's connections" open $f
done
for f in 4 6; do
	chs_run "IPv$f: just its own entries go with a service" lookalikes $f
done
chs_run "apply and flush" flush
chs_run "unload and load" unload
chs_run "theirs take new connections" fresh
chs_done
