#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that has disabled IPv6: whatever names an IPv6 address is refused, also
# to the root of a user namespace, and IPv4 works.
#
# cmdline: ipv6.disable=1
#
#   cl ─── sw (bridge) ─┬─ lb
#                       └─ b1

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

refused="is IPv6, which this kernel has disabled (ipv6.disable=1)"
b6=$(chs_b6 1)

# IPv4 only: an address of IPv6 cannot be configured here.
topology()
{
	chs_setup_ns cl sw lb b1 || return
	chs_ip sw -b - <<- EOF || return
		link add br0 type bridge
		link set br0 up
	EOF
	chs_link cl c0 sw pc lb l0 sw pl b1 e0 sw p1 || return
	printf 'link set %s master br0\n' pc pl p1 | chs_ip sw -b - || return
	chs_ip cl -b - <<- EOF || return
		addr add $CHS_CL4/24 dev c0
		route add 198.51.100.0/24 dev c0
		route add $CHS_VIP4 via 192.0.2.1
	EOF
	chs_ip lb -b - <<- EOF || return
		addr add 192.0.2.1/24 dev l0
		addr add 198.51.100.1/24 dev l0
		addr add $CHS_VIP4/32 dev lo
	EOF
	chs_ip b1 -b - <<- EOF || return
		addr add $(chs_b4 1)/24 dev e0
		route add 192.0.2.0/24 dev e0
		addr add $CHS_VIP4/32 dev lo
		link add t44 type ipip local $(chs_b4 1) remote any
		link set t44 up
	EOF
	chs_in b1 sysctl -qw net.ipv4.conf.{all,default,t44}.rp_filter=0 \
		net.ipv4.conf.{all,default}.arp_ignore=1 || return
	chs_in lb sysctl -qw net.ipv4.ip_forward=1 || return
	chs_serve tcp:80,tcp:81,tcp:82 b1 || return
	chs_conns_start cl cl
}

# Every request that has an address in it.
refusals()
{
	local mode

	for mode in nat route ipip gue; do
		chs_cmd_fail EAFNOSUPPORT "service address $CHS_VIP6 $refused" \
			chs_ctl service add s tcp "[$CHS_VIP6]:80" mode "$mode"
		chs_cmd_ok chs_ctl service add t tcp "$CHS_VIP4:80" mode "$mode"
		chs_cmd_fail EAFNOSUPPORT "backend address $b6 $refused" \
			chs_ctl backend add t "[$b6]"
		chs_cmd_fail EAFNOSUPPORT "backend address $b6 $refused" \
			chs_ctl backend del t "[$b6]"
		chs_cmd_ok chs_ctl service del t
	done
	for mode in ipip gue; do
		chs_cmd_fail EAFNOSUPPORT "source 2001:db8:b::1 $refused" \
			chs_ctl service add t tcp "$CHS_VIP4:80" mode "$mode" source 2001:db8:b::1
		chs_cmd_ok chs_ctl service add t tcp "$CHS_VIP4:80" mode "$mode"
		chs_cmd_fail EAFNOSUPPORT "source 2001:db8:b::1 $refused" \
			chs_ctl service set t source 2001:db8:b::1
		chs_cmd_ok chs_ctl service del t
	done
	chs_cmd_fail EAFNOSUPPORT "source address $CHS_CL6 $refused" \
		chs_ctl lookup tcp "[$CHS_CL6]:4000" "[$CHS_VIP6]:80"
}

# A whole file, applied or only planned: nothing of it takes effect.
file()
{
	cat > "$CHS_TMP/file" <<- EOF
		service add a tcp $CHS_VIP4:80 mode ipip
		backend add a $(chs_b4 1)
		service add b tcp [$CHS_VIP6]:80 mode ipip
		backend add b $b6
	EOF
	chs_cmd_fail EAFNOSUPPORT "file:3" chs_ctl apply "$CHS_TMP/file"
	chs_cmd_fail EAFNOSUPPORT "file:3" chs_ctl plan apply "$CHS_TMP/file"
	chs_cmd_ok chs_ctl -j service show
	chs_expect "services" "$CHS_OUT" "[]"
}

# Nobody may be the root of a user namespace, and have services there.
unprivileged()
{
	chs_cmd_ok setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
		bash -c "
			chctl service add t tcp 192.0.2.20:80 mode ipip || exit
			! chctl backend add t '[2001:db8::5]' || exit
			! chctl service add s tcp '[2001:db8::20]:80' mode route || exit
			chctl backend add t 192.0.2.5 && chctl backend show && chctl flush"
}

v4()
{
	local mode port=80 options=(masquerade on)

	for mode in nat route ipip; do
		chs_cmd_ok chs_ctl service add "$mode" tcp "$CHS_VIP4:$port" mode "$mode" \
			"${options[@]}"
		chs_cmd_ok chs_ctl backend add "$mode" "$(chs_b4 1)"
		chs_conns cl open tcp "$CHS_VIP4" "$port" 5
		chs_answers "$mode" answered=5 b1=5
		if [[ $mode != nat ]]; then
			chs_cmd_ok chs_ctl -j backend show "$mode"
			chs_expect "reachable" "$(chs_json '.[0].reachable')" true
		fi
		chs_conns cl close
		# The last one goes, and the error is IPv4's.
		chs_cmd_ok chs_ctl backend del "$mode" "$(chs_b4 1)"
		chs_conns cl open tcp "$CHS_VIP4" "$port" 1
		chs_answers "$mode, empty" refused=1
		chs_conns cl forget
		port=$((port + 1)) options=()
	done
	chs_cmd_ok chs_ctl flush
}

chs_require_module ipip
if [[ -e /proc/net/if_inet6 ]]; then
	chs_skip_all "this kernel has IPv6"
fi
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "whatever names an IPv6 address is refused" refusals
chs_run "so is a file with one" file
chs_run "and what the root of a user namespace says" unprivileged
chs_run "IPv4 works" v4
chs_done
