#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one debug
# chs-timeout: 400
# cpus: 2
#
# Load and unload: with everything in use, at once after a large removal, under
# load, again and again; and what was taken comes back. Cases C-087, C-088,
# C-090.
#
#   cl ──── lb ──── be    192.0.2.10/24 .1, 198.51.100.1/24 .11 .12

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

topology()
{
	chs_setup_ns cl lb be || return
	chs_link cl c0 lb l0 && chs_link lb l1 be e0 || return
	chs_ip cl addr add 192.0.2.10/24 dev c0
	chs_ip cl route add default via 192.0.2.1
	chs_ip lb addr add 192.0.2.1/24 dev l0
	chs_ip lb addr add 198.51.100.1/24 dev l1
	chs_ip lb route add unreachable "$CHS_VIP4"
	chs_in lb sysctl -qw net.ipv4.ip_forward=1
	chs_ip be addr add 198.51.100.11/24 dev e0
	chs_ip be addr add 198.51.100.12/24 dev e0
	chs_ip be route add default via 198.51.100.1
	chs_serve tcp:80,udp:53 be
}

fill()
{
	chs_in lb chctl -b - <<- EOF
		service add s tcp $CHS_VIP4:80 slots 256 points 16
		backend add s 198.51.100.11 198.51.100.12
		backend add s 10.0.0.1 state drain deadline 600 zone z
		backend add s 10.0.0.2 state drain deadline 1 delete
		backend add s 10.0.0.3 weight 0
		service add u udp $CHS_VIP4:53 slots 256 points 16 masquerade on
		backend add u 198.51.100.11 198.51.100.12
		service add r tcp $CHS_VIP4:1000-2000 slots 256 seed 000102030405060708090a0b0c0d0e0f
		service add v udp [$CHS_VIP6]:* slots 256
		backend add v 2001:db8:b::1
		backend set s 198.51.100.12 state down
		backend set s 198.51.100.12 state up
	EOF
}

# A connection that stays open over unloads, and datagrams.
talk()
{
	chs_in cl bash -c "exec 3<> /dev/tcp/$CHS_VIP4/80 || exit
		echo hello >&3; read -r -t 10 -u 3 answer || exit
		echo hello > /dev/udp/$CHS_VIP4/53"
}

twice()
{
	local err

	err=$(insmod "$CHS_KO" 2>&1) && chs_fail "loaded twice"
	[[ $err == *"File exists"* ]] || chs_fail "$err"
	# Under another file name it is still the same module.
	cp "$CHS_KO" "$CHS_TMP/other.ko"
	err=$(insmod "$CHS_TMP/other.ko" 2>&1) && chs_fail "loaded twice"
	chs_cmd_ok chctl -V
}

references()
{
	chs_expect "references" "$(< /sys/module/chsteer/refcnt)" "$1"
}

unheld()
{
	[[ $(< /sys/module/chsteer/refcnt) == 0 ]]
}

pin()
{
	echo "$1" > /sys/module/chsteer/parameters/pin
}

# A namespace with services keeps the module, until the last of them goes, however it
# does, and as long as the administrator wants it kept.
pinned()
{
	local how out

	: > "$CHS_TMP/empty"
	for how in flush "service del s" "apply --allow-empty $CHS_TMP/empty" namespace; do
		chs_setup_ns other || { chs_fail "no namespace"; return; }
		references 0
		chs_cmd_ok chs_in other chctl service add s tcp "$CHS_VIP4:80" slots 256
		chs_cmd_ok chs_in other chctl service add t tcp "$CHS_VIP4:81" slots 256
		references 1
		out=$(rmmod chsteer 2>&1) && { chs_fail "gone, with services"; return; }
		[[ $out == *"is in use"* ]] || chs_fail "$out"
		chs_cmd_ok chs_in other chctl service del t
		references 1
		if [[ $how == namespace ]]; then
			chs_del_ns other
			chs_busywait 20000 unheld || chs_fail "a namespace that is gone"
			continue
		fi
		# shellcheck disable=SC2086 # words
		chs_cmd_ok chs_in other chctl $how
		references 0
		chs_del_ns other
	done
	chs_setup_ns other || { chs_fail "no namespace"; return; }
	chs_cmd_ok chs_in other chctl service add s tcp "$CHS_VIP4:80" slots 256
	pin N
	references 0
	pin Y
	references 1
	chs_cmd_ok chs_in other chctl flush
	rmmod chsteer || { chs_fail "not unloaded after flush"; return; }
	chs_del_ns other
	chs_load || chs_fail "not loaded"
}

# A user's services keep nothing: they go with the module.
guest()
{
	local fd

	exec {fd}> >(exec unshare -Urn bash -c "
		chctl service add g tcp $CHS_VIP4:80 slots 256 && echo ready > $CHS_TMP/guest
		read -r")
	if chs_busywait 10000 test -s "$CHS_TMP/guest"; then
		references 0
		rmmod chsteer || chs_fail "not unloaded"
	else
		chs_fail "no services"
	fi
	exec {fd}>&-
	chs_loaded || chs_load || chs_fail "not loaded"
}

in_use()
{
	topology || chs_fail topology
	fill || chs_fail "not configured"
	talk || chs_fail "no traffic"
	references 1
	chs_bg nsenter --net="/run/netns/${CHS_NS[cl]}" bash -c "
		exec 3<> /dev/tcp/$CHS_VIP4/80; read -r -u 3"
	chs_busywait 10000 open_flows || chs_fail "no open flow"
	references 1
	chs_unload || chs_fail "not unloaded"
	chs_loaded && chs_fail "still loaded"
	chs_cmd_fail ENOMODULE "modprobe chsteer" chctl service show
	chs_cmd_fail ENOMODULE "modprobe chsteer" chctl flush
	chs_load || chs_fail "not loaded"
	chs_expect "left over" "$(chs_in lb chctl save)" ""
}

open_flows()
{
	[[ $(chs_in lb chctl -j stats s | jq '.[0].new_flows') -ge 2 ]]
}

rounds()
{
	local before i n=$1

	again && again || return
	before=$(chs_kernel_memory)
	for ((i = 0; i < n; i++)); do
		fill || { chs_fail "round $i: not configured"; return; }
		((i % 10)) || talk || chs_fail "round $i: no traffic"
		((i % 3)) || chs_in lb chctl service del s
		((i % 5)) || again || { chs_fail "round $i"; return; }
		((i % 5)) && chs_in lb chctl flush
	done
	# 100 KiB a round would be one ring each.
	chs_memory_back "$before" $((n * 50))
}

# Unload, with whatever is there, and load.
again()
{
	chs_unload || { chs_fail "not unloaded"; return; }
	chs_load || chs_fail "not loaded"
}

# A deadline passes while the module goes: what it does must be over by then.
# Packets of both families come across whatever is left of a hook.
deadline_passes()
{
	local i

	for ((i = 0; i < 5; i++)); do
		chs_in lb chctl -b - <<- EOF || chs_fail "round $i: not configured"
			service add d tcp $CHS_VIP4:80 slots 256 points 16
			service add e tcp [$CHS_VIP6]:80 slots 256 points 16
			backend add d 198.51.100.11 198.51.100.12
			backend add e 2001:db8:b::11 2001:db8:b::12
			backend drain * 198.51.100.11 2001:db8:b::11 deadline 1
		EOF
		chs_pause "0.$((50 + i * 10))"
		chs_unload || { chs_fail "round $i: not unloaded"; return; }
		chs_in lb ping -q -c 1 -W 5 198.51.100.11 || chs_fail "round $i: no answer"
		chs_in lb ping -q -c 1 -W 5 ::1 || chs_fail "round $i: no answer"
		chs_load || { chs_fail "round $i: not loaded"; return; }
	done
}

# Thousands of backends go, and the module right behind them.
large_removal()
{
	local i how before

	{
		for ((i = 0; i < 4; i++)); do
			echo "service add big$i tcp $CHS_VIP4:$((9000 + i)) points 2 slots 4096"
			printf "backend add big$i 10.$i.%s\n" {0..15}.{0..63}
		done
	} > "$CHS_TMP/big"
	before=$(chs_kernel_memory)
	for how in "flush" "service del big0" "backend del big1 $(printf '10.1.%s ' {0..15}.{0..63})" ""; do
		chs_cmd_ok chs_in lb chctl apply "$CHS_TMP/big"
		# shellcheck disable=SC2086 # several words
		[[ -z $how ]] || chs_in lb chctl $how || chs_fail "${how:0:20}"
		chs_unload || { chs_fail "not unloaded after ${how:0:20}"; return; }
		chs_load
	done
	chs_memory_back "$before" 8192
}

under_load()
{
	local i load pids=()

	for load in "echo > /dev/udp/$CHS_VIP4/53" "exec 3<> /dev/tcp/$CHS_VIP4/80"; do
		chs_bg nsenter --net="/run/netns/${CHS_NS[cl]}" \
			timeout 300 bash -c "while :; do $load; done 2> /dev/null"
		pids+=("$CHS_PID")
	done
	chs_bg nsenter --net="/run/netns/${CHS_NS[lb]}" bash -c \
		"while :; do chctl backend replace s 10.0.0.9 weight \$((++i % 100)); chctl save; done > /dev/null 2>&1"
	pids+=("$CHS_PID")
	for ((i = 0; i < 3; i++)); do
		fill > /dev/null 2>&1
		chs_busywait 10000 is_steering || chs_fail "round $i: nothing is steered"
		# Who is reading a list has the module in use until its end.
		chs_busywait 20000 chs_unload || { chs_fail "round $i: not unloaded"; break; }
		chs_load || { chs_fail "round $i: not loaded"; break; }
	done
	for i in "${pids[@]}"; do
		chs_kill "$i"
	done
}

is_steering()
{
	[[ $(chs_in lb chctl -j stats u | jq '.[0].packets') -ge 5 ]]
}

# Conntrack entries end as ever, whoever made them.
flows_end()
{
	chs_in lb sysctl -qw net.netfilter.nf_conntrack_udp_timeout=1 \
		net.netfilter.nf_conntrack_udp_timeout_stream=1
	chs_in lb chctl flush
	fill || chs_fail "not configured"
	chs_in cl bash -c "for i in {1..100}; do echo > /dev/udp/$CHS_VIP4/53; done" 2> /dev/null
	chs_busywait 10000 is_steering || chs_fail "no traffic"
	chs_busywait 60000 few_entries || chs_fail "$(entries) entries stay"
	references 1
}

entries()
{
	chs_in lb sysctl -n net.netfilter.nf_conntrack_count
}

# TCP connections of the rounds before linger.
few_entries()
{
	chs_in lb conntrack -L -p udp 2> /dev/null | wc -l | grep -qx '[0-9]'
}

chs_hold_hooks || exit 1
chs_setup
chs_run "loaded once only" twice
chs_run "services keep the module" pinned
chs_run "services of a user namespace do not" guest
chs_run "unload with everything in use" in_use
chs_run "unload as a deadline passes" deadline_passes
n=$(chs_amount 30 300 10)
chs_run "$n rounds" rounds "$n"
chs_run "a large removal, and unload behind it" large_removal
chs_run "unload under load" under_load
chs_run "flows end by their timeouts" flows_end
chs_done
