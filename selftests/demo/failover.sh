# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # variables are those of demo.sh
#
# The second story of the demonstration, sourced by demo.sh: one director takes
# over from another, once with chsteer and once with IPVS, in the same topology
# and with the same client. What is told of either was counted in this run.

HELD=100
FO_NETNS=(visitor router lb1 lb2 rs1 rs2 rs3 rs4)
declare -A LOST=()

failover_topology()
{
	local i

	printf 'netns add %s\n' "${FO_NETNS[@]}" | ip -b - || return
	netns+=("${FO_NETNS[@]}")
	for i in "${FO_NETNS[@]}"; do
		nsenter --net="/run/netns/$i" sysctl -qw \
			net.ipv4.conf.{all,default}.rp_filter=0
	done
	nsenter --net=/run/netns/router sysctl -qw net.ipv4.ip_forward=1
	# Each from its own namespace: a name must be free where one asks from.
	ip -n visitor link add c0 type veth peer name r0 netns router || return
	ip -n lb1 link add l0 type veth peer name r1 netns router || return
	ip -n lb2 link add l0 type veth peer name r2 netns router || return
	{
		cat <<- EOT
			link add br0 type bridge
			link set br0 up
			link set r0 up
			link set r1 up
			link set r2 up
			addr add 192.0.2.1/24 dev r0
			addr add 10.0.1.1/24 dev r1
			addr add 10.0.2.1/24 dev r2
			addr add 198.51.100.254/24 dev br0
		EOT
		for i in lb1 lb2 rs1 rs2 rs3 rs4; do
			say "link add p-$i type veth peer name e0 netns $i" \
				"link set p-$i master br0 up"
		done
	} | ip -n router -b - || return
	ip -n visitor -b - <<- EOT || return
		link set lo up
		link set c0 up
		addr add $CLIENT/24 dev c0
		route add default via 192.0.2.1
	EOT
	for i in 1 2; do
		ip -n "lb$i" -b - <<- EOT || return
			link set lo up
			link set l0 up
			link set e0 up
			addr add 10.0.$i.2/24 dev l0
			addr add 198.51.100.$i/24 dev e0
			route add default via 10.0.$i.1
		EOT
	done
	for i in 1 2 3 4; do
		nsenter --net="/run/netns/rs$i" sysctl -qw \
			net.ipv4.conf.{all,default}.arp_ignore=1 \
			net.ipv4.conf.{all,default}.arp_announce=2
		ip -n "rs$i" -b - <<- EOT || return
			link set lo up
			link set e0 up
			addr add $VIP/32 dev lo
			addr add 198.51.100.$((10 + i))/24 dev e0
			route add default via 198.51.100.254
		EOT
	done
}

# to lb1|lb2: the router's way to the virtual address
to()
{
	ip -n router route replace $VIP via "10.0.${1#lb}.2" || die "no route to $1"
}

# ask_visitor COMMAND...: of the process that holds the connections
ask_visitor()
{
	local answer word

	say "$*" >&"$to_visitor"
	if ! read -r -t 300 answer <&"$from_visitor"; then
		cat "$work/visitor.log"
		die "no answer to: $*"
	fi
	[[ $answer != error* ]] || die "$answer"
	A=()
	for word in $answer; do
		A[${word%%=*}]=${word#*=}
	done
}

# hold: connections by lb1, all of them in use
hold()
{
	to lb1
	ask_visitor open tcp $VIP 80 $HELD
	((A[answered] == HELD)) || die "only ${A[answered]} of $HELD connections"
	ask_visitor exchange
	((A[answered] == HELD && A[moved] == 0)) || die "not all are used"
}

# take_over: lb2 has them now. What broke of them, or went elsewhere, is counted.
take_over()
{
	to lb2
	ask_visitor exchange timeout=5000
	broken_now=$((A[broken] + A[moved]))
	ask_visitor reset
	to lb1
}

# on_both COMMAND...: in both directors
on_both()
{
	local name

	for name in lb1 lb2; do
		nsenter --net="/run/netns/$name" -- "$@" > "$work/out" 2>&1 ||
			die "$*: $(< "$work/out")"
	done
}

# All at once: with a second change arcs would be open when connections begin, and
# those in them are known to the director that saw them begin only.
chsteer_begin()
{
	on_both ip route add blackhole $VIP
	on_both chctl service add web tcp $VIP:80 mode route
	on_both chctl backend add web 198.51.100.{11,12,13}
}

chsteer_change()
{
	on_both chctl backend add web 198.51.100.14
	on_both chctl backend set web 198.51.100.11 weight 40
}

chsteer_end()
{
	on_both chctl flush
	on_both ip route del blackhole $VIP
}

# mh is IPVS' consistent hashing; the ports are part of it, as they are here.
ipvs_begin()
{
	local i

	# It takes packets that are for the host itself only.
	on_both ip addr add $VIP/32 dev lo
	on_both ipvsadm -A -t $VIP:80 -s mh -b mh-port
	for i in 1 2 3; do
		on_both ipvsadm -a -t $VIP:80 -r 198.51.100.$((10 + i)):80 -g -w 100
	done
}

ipvs_change()
{
	on_both ipvsadm -a -t $VIP:80 -r 198.51.100.14:80 -g -w 100
	on_both ipvsadm -e -t $VIP:80 -r 198.51.100.11:80 -g -w 40
}

ipvs_end()
{
	on_both ipvsadm -C
	on_both ip addr del $VIP/32 dev lo
}

sloppy_begin()
{
	on_both sysctl -qw net.ipv4.vs.sloppy_tcp=1
	ipvs_begin
}

sloppy_change() { ipvs_change; }

sloppy_end()
{
	ipvs_end
	on_both sysctl -qw net.ipv4.vs.sloppy_tcp=0
}

# contend NAME: both trials of one contender
contend()
{
	"$1_begin"
	hold
	take_over
	LOST[$1.rest]=$broken_now
	hold
	"$1_change"
	# Each connection is used, and so known to lb1 for what it is.
	ask_visitor exchange timeout=5000
	LOST[$1.change]=$((A[broken] + A[moved]))
	take_over
	LOST[$1.after]=$broken_now
	"$1_end"
}

# row TEXT TRIAL
row()
{
	printf '    %-43s %9d %9d %9d\n' "$1" "${LOST[chsteer.$2]}" \
		"${LOST[ipvs.$2]}" "${LOST[sloppy.$2]}"
}

failover()
{
	local i

	modprobe -q ip_vs_mh || die "this kernel has no IPVS to compare with"
	failover_topology || die "no second topology"
	start servers visitor "$here/../net/whoami.py" tcp:80 rs1=/run/netns/rs1 \
		rs2=/run/netns/rs2 rs3=/run/netns/rs3 rs4=/run/netns/rs4
	mkfifo "$work/visitor.to" "$work/visitor.from"
	exec {to_visitor}<> "$work/visitor.to" {from_visitor}<> "$work/visitor.from"
	nsenter --net=/run/netns/visitor "$here/../net/conns.py" <&"$to_visitor" \
		>&"$from_visitor" 2> "$work/visitor.log" &
	pid_of[visitor]=$!
	for ((i = 0; i < 600; i++)); do
		grep -qx ready "$work/servers.log" && break
		read -r -t 0.1 <> <(:)
	done
	((i < 600)) || die "no servers: $(< "$work/servers.log")"

	cat <<- EOT
		Two directors behind a router, and servers that answer past them. The
		router sends what is for $VIP to lb1; then lb1 is gone and it sends
		that to lb2, which has the same configuration, but has seen nothing of the
		$HELD connections that are open.

		                           ┌── lb1 ──┐
		    visitor ──── router ───┤         ├─── rs1 ... rs4
		                    │      └── lb2 ──┘     │
		                    └──────── answers ─────┘

		First chsteer steers, then IPVS, the kernel's own load balancer: both by
		consistent hashing of addresses and ports, both without translation. IPVS
		has an option, sloppy_tcp, to take connections over in their middle.

		    chctl service add web tcp $VIP:80 mode route
		    ipvsadm -A -t $VIP:80 -s mh -b mh-port      (and servers with -g)

	EOT
	for i in chsteer ipvs sloppy; do
		contend "$i"
	done
	printf '    %-43s %9s %9s %9s\n' "connections broken, of $HELD" chsteer IPVS sloppy
	row "lb2 takes over" rest
	row "rs4 is added, rs1 weighs 40 instead of 100" change
	row "... and then lb2 takes over" after
	say ''
	promise "chsteer broke none of $((2 * HELD)) connections" \
		"LOST[chsteer.rest] + LOST[chsteer.change] + LOST[chsteer.after] == 0"
}
