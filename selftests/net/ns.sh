#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 2
#
# Network namespaces have services and counters of their own, whether older or
# younger than the module, and go when told to. Cases C-062, C-089.
#
#   cI ──── lI    I = 1, 2: made before the module is loaded; 3, 4: after
#   192.0.2.10/24 .1; the service address is the same in all

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

tool()
{
	local ns=${CHS_NS[$1]}

	shift
	chctl -n "$ns" "$@"
}

pair()
{
	chs_setup_ns "c$1" "l$1" || return
	chs_link "c$1" c0 "l$1" l0 || return
	chs_ip "c$1" addr add 192.0.2.10/24 dev c0
	chs_ip "c$1" route add default via 192.0.2.1
	chs_ip "l$1" addr add 192.0.2.1/24 dev l0
	chs_ip "l$1" route add unreachable "$CHS_VIP4"
	chs_in "l$1" sysctl -qw net.ipv4.ip_forward=1
}

configure()
{
	chs_cmd_ok tool "l$1" service add s udp "$CHS_VIP4:53" slots 256
	chs_cmd_ok tool "l$1" backend add s "10.$1.0.1" "10.$1.0.2"
}

# datagrams I N: from N sockets
datagrams()
{
	chs_in "c$1" bash -c "for ((i = 0; i < $2; i++)); do
		echo > /dev/udp/$CHS_VIP4/53
	done" 2> /dev/null
}

own()
{
	local i

	if ! pair 3 || ! pair 4; then
		chs_fail "no namespaces"
	fi
	for i in 1 2 3 4; do
		configure "$i"
	done
	for i in 1 2 3 4; do
		datagrams "$i" $((i * 10))
	done
	for i in 1 2 3 4; do
		chs_cmd_ok tool "l$i" -j backend show
		chs_expect "backends of $i" "$(chs_json '[.[].address] | join(" ")')" \
			"10.$i.0.1 10.$i.0.2"
		chs_expect "packets of $i" "$(chs_json '[.[].packets] | add')" $((i * 10))
		chs_cmd_ok tool "l$i" -j stats
		chs_expect "service packets of $i" "$(chs_json '.[0].packets')" $((i * 10))
		chs_cmd_ok tool "l$i" -j lookup udp 192.0.2.10:4000 "$CHS_VIP4:53"
		[[ $(chs_json .address) == 10.$i.0.* ]] || chs_fail "lookup of $i"
	done
	# Nor does the first namespace see any of it.
	chs_expect "here" "$(chctl -j service show | jq -c .)" "[]"
	chs_cmd_ok tool l3 flush
	chs_expect "flushed" "$(tool l3 save)" ""
	chs_expect "others after that" "$(tool l1 -j service show | jq length)" 1
	configure 3
}

two_gone()
{
	local i

	chs_del_ns l1 l3 c1 c3
	chs_busywait 20000 chs_netns_idle || chs_fail "teardown hangs"
	for i in 2 4; do
		datagrams "$i" 7
		chs_cmd_ok tool "l$i" -j stats
		chs_expect "packets of $i" "$(chs_json '.[0].packets')" $((i * 10 + 7))
		chs_cmd_ok tool "l$i" backend add s "10.$i.0.3"
	done
}

# sender I: until its namespace is gone or it is told to stop
sender()
{
	while :; do
		echo > "/dev/udp/$CHS_VIP4/53"
	done 2> /dev/null
}

# C-089: namespaces end while traffic flows, devices come and go.
busy_end()
{
	local i sending flapping changing

	for i in {11..15}; do
		pair "$i" || chs_fail "no namespaces"
		configure "$i"
		chs_ip "l$i" link add d0 type dummy
		chs_ip "l$i" addr add "10.$i.0.254/24" dev d0
		chs_ip "l$i" link set d0 up
		export -f sender
		export CHS_VIP4
		chs_bg nsenter --net="/run/netns/${CHS_NS[c$i]}" bash -c sender
		sending=$CHS_PID
		chs_bg bash -c "while ip -n ${CHS_NS[l$i]} link set d0 down &&
				ip -n ${CHS_NS[l$i]} link set d0 up; do :; done"
		flapping=$CHS_PID
		chs_bg bash -c "while chctl -n ${CHS_NS[l$i]} backend del s 10.$i.0.1 &&
				chctl -n ${CHS_NS[l$i]} backend add s 10.$i.0.1; do :; done"
		changing=$CHS_PID
		chs_busywait 20000 flows "$i" || chs_fail "no traffic"
		# In turns: the balancer first, its devices first.
		((i & 1)) || chs_ip "l$i" link del d0
		chs_del_ns "l$i"
		chs_kill "$flapping"
		chs_kill "$changing"
		chs_kill "$sending"
		chs_del_ns "c$i"
	done
	chs_busywait 20000 chs_netns_idle || chs_fail "teardown hangs"
	! dmesg | grep "unregister_netdevice: waiting" || chs_fail "a device is held"
	datagrams 4 3
	chs_cmd_ok tool l4 -j stats
	chs_expect "packets of 4" "$(chs_json '.[0].packets')" 50
}

flows()
{
	(($(tool "l$1" -j stats | jq '.[0].packets') > 20))
}

if ! chs_hold_hooks || ! pair 1 || ! pair 2; then
	exit 1
fi
chs_setup
chs_run "four namespaces, older and younger than the module" own
chs_run "two of them go" two_gone
chs_run "namespaces go while traffic flows and devices flap" busy_end
chs_done
