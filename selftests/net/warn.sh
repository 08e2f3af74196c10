#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# Warnings: each when there is reason for it, none when there is not, exit
# status 0; and the refusal that keeps the administrator's door open.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

off4="mode nat, but forwarding of IPv4 is off: net.ipv4.ip_forward"
off6="mode nat, but forwarding of IPv6 is off: net.ipv6.conf.all.forwarding"
loop="is neither local nor routed to a dead end: what no service takes is forwarded and may loop"

lb()
{
	chs_in lb chctl "$@"
}

# warns TEXT COMMAND...: succeeds with exactly these lines on stderr
warns()
{
	chs_cmd_ok chs_in lb chctl "${@:2}"
	chs_expect "warnings of ${*:2}" "$CHS_ERR" "$1"
}

forwarding()
{
	chs_in lb sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
	warns "Warning: service 'w4': $off4" service add w4 tcp "$CHS_VIP4:80"
	warns "Warning: service 'w6': $off6" service add w6 tcp "[$CHS_VIP6]:80"
	# As an error, it would be JSON; a warning is text beside it.
	warns "Warning: service 'w5': $off4" -j service add w5 tcp "$CHS_VIP4:81"
	# Families are judged each for itself.
	chs_in lb sysctl -qw net.ipv4.ip_forward=1
	lb flush
	warns "" service add w4 tcp "$CHS_VIP4:80"
	warns "Warning: service 'w6': $off6" service add w6 tcp "[$CHS_VIP6]:80"
	chs_in lb sysctl -qw net.ipv6.conf.all.forwarding=1
	lb flush
	warns "" service add w6 tcp "[$CHS_VIP6]:80"
	# In a file, beside its line.
	chs_in lb sysctl -qw net.ipv4.ip_forward=0
	printf '\nservice add w4 tcp %s:80\n' "$CHS_VIP4" > "$CHS_TMP/file"
	warns "Warning: $CHS_TMP/file:2: service 'w4': $off4" apply "$CHS_TMP/file"
	lb flush
	warns "Warning: $CHS_TMP/file:2: service 'w4': $off4" -b "$CHS_TMP/file"
	# What changes nothing says nothing.
	warns "" apply "$CHS_TMP/file"
	chs_in lb sysctl -qw net.ipv4.ip_forward=1
}

# Of every kind of route, who warns.
routes()
{
	local route family addr want

	chs_ip lb route del unreachable "$CHS_VIP4"
	chs_ip lb route del unreachable "$CHS_VIP6"
	while read -r family want route; do
		lb flush
		addr=203.0.113.80
		[[ $family == 4 ]] || addr=2001:db8:f::80
		chs_ip lb -"$family" route flush table all proto static
		# shellcheck disable=SC2086 # words
		[[ $route == - ]] || chs_ip lb -"$family" route add proto static $route ||
			chs_fail "no route $route"
		[[ $family == 4 ]] || addr="[$addr]"
		chs_cmd_ok chs_in lb chctl service add r tcp "$addr:80"
		addr=${addr//[\[\]]/}
		if [[ $want == yes ]]; then
			chs_expect "with route $route" "$CHS_ERR" \
				"Warning: service 'r': address $addr $loop"
		else
			chs_expect "with route $route" "$CHS_ERR" ""
		fi
	done <<- EOF
		4 no unreachable 203.0.113.80
		4 no blackhole 203.0.113.0/24
		4 no prohibit 203.0.113.80
		4 no local 203.0.113.80 dev lo
		4 yes 203.0.113.80 via 192.0.2.10
		4 yes 203.0.113.0/24 via 192.0.2.10
		4 yes default via 192.0.2.10
		4 no -
		6 no unreachable 2001:db8:f::80
		6 no blackhole 2001:db8:f::/64
		6 no local 2001:db8:f::80 dev lo
		6 yes 2001:db8:f::80 via 2001:db8:a::10
		6 yes default via 2001:db8:a::10
		6 no -
	EOF
	# The network of an interface: others there may have the address.
	lb flush
	chs_cmd_ok chs_in lb chctl service add r tcp 192.0.2.99:80
	chs_expect "on-link" "$CHS_ERR" "Warning: service 'r': address 192.0.2.99 $loop"
	warns "" service add own tcp 192.0.2.1:80
	chs_ip lb route add unreachable "$CHS_VIP4"
	chs_ip lb route add unreachable "$CHS_VIP6"
	lb flush
}

coarse()
{
	local text="under half of unit 100: the ring is coarse"

	lb service add c tcp "$CHS_VIP4:80"
	warns "Warning: service 'c': its largest weight is 49, $text" \
		backend add c 10.0.0.1 10.0.0.2 weight 49
	warns "" backend set c 10.0.0.1 10.0.0.2 weight 50
	warns "" backend add c 10.0.0.3 10.0.0.4 weight 20
	chs_cmd_ok chs_in lb chctl backend set c 10.0.0.1 10.0.0.2 state drain
	[[ $CHS_ERR == *"Warning: service 'c': its largest weight is 20, $text"* ]] ||
		chs_fail "no warning once the large ones drain"
	# A service that nobody can take has no shares to warn of.
	warns "" backend set c 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 state down
	warns "" service add d tcp "$CHS_VIP4:81" unit 10
	warns "" backend add d 10.0.0.1 10.0.0.2 weight 5
	lb flush
}

off_target()
{
	local n first

	lb service add o tcp "$CHS_VIP4:80" points 1 slots 256 balance off
	chs_cmd_ok chs_in lb chctl backend add o 10.0.0.{1..8}
	[[ $CHS_ERR =~ ^"Warning: service 'o': "([0-9]+)" of its backends are off their target share by over 25 %, the first "([0-9.]+):80" with "([0-9]+)" of 256 arcs: raise points or slots"$ ]] ||
		{ chs_fail "no warning"; return; }
	n=${BASH_REMATCH[1]} first="${BASH_REMATCH[2]} ${BASH_REMATCH[3]}"
	# As many as the figures shown say: a share of 32 is due to each.
	chs_cmd_ok chs_in lb chctl -j ring show o
	chs_expect "how many" "$n" "$(chs_json '[.backends[] |
		select((.slots - 32 | fabs) * 4 > 32)] | length')"
	chs_expect "the first" "$first" "$(chs_json '[.backends[] |
		select((.slots - 32 | fabs) * 4 > 32)][0] | "\(.address) \(.slots)"')"
	# With points enough there is nothing to say.
	lb service add p tcp "$CHS_VIP4:81"
	warns "" backend add p 10.0.0.{1..8}
	# A change that leaves the ring as it is does not repeat it.
	warns "" backend set o 10.0.0.1 zone z
	warns "" service set o on-empty drop
	lb flush
}

# Ports that this host's own sockets have, or get when it makes connections.
sockets()
{
	local f addr ep want text_eph text_bound proto ports eph bound options

	chs_in lb sysctl -qw net.ipv4.ip_local_port_range="40000 40999" \
		net.ipv4.ip_local_reserved_ports=
	chs_serve tcp:81,udp:81 lb || return
	for f in 4 6; do
		addr=192.0.2.1 ep=192.0.2.1
		((f == 4)) || addr=2001:db8:a::1 ep="[2001:db8:a::1]"
		text_eph="Warning: service 's': address $addr is this host's own, and port %s in net.ipv4.ip_local_port_range: replies to connections that this host makes from there go to backends"
		text_bound="Warning: service 's': a socket of this host is bound to $ep:81: what is sent there goes to backends"
		# PROTO, PORTS, OPTIONS: which port, and whether 81, they warn of
		while read -r proto ports eph bound options; do
			want=
			# shellcheck disable=SC2059 # the format
			[[ $eph == - ]] || want+=$(printf "$text_eph" "$eph")
			[[ $bound == - ]] || want+=${want:+$'\n'}$text_bound
			# shellcheck disable=SC2086 # words
			warns "$want" service add s "$proto" "$ep:$ports" $options
			lb service del s
		done <<- EOF
			tcp 82-39999 - - mode route
			tcp 82-40000 40000 - mode route
			udp 40999 40999 - mode ipip
			sctp 41000-65535 - - mode gue
			tcp 82-65535 - - mode nat
			tcp 81 - 81 mode nat
			udp 23-81 - 81 mode route
			udp 81 - - mode route on-empty pass
			tcp 23-65535 40000 81 mode route
		EOF
	done
	# A port that the host may not choose is nobody's; nor is another's address.
	chs_in lb sysctl -qw net.ipv4.ip_local_reserved_ports=40000-40500
	warns "" service add s tcp 192.0.2.1:82-40500 mode route
	warns "" service add t tcp "$CHS_VIP4:23-65535" mode route
	lb flush
	chs_kill "$CHS_PID"
}

# What would cut off port 22 of this very host is refused unless forced.
lockout()
{
	local ep text

	chs_ip lb addr add 203.0.113.7/32 dev lo
	chs_ip lb addr add 2001:db8:f::7/128 dev lo nodad
	for ep in "203.0.113.7:*" "203.0.113.7:22-23" "203.0.113.7:1-22" \
		  "203.0.113.7:1-65535" "[2001:db8:f::7]:*" "[2001:db8:f::7]:20-30"; do
		text="service address ${ep%:*} is this host's own and the ports hold 22: needs --force"
		chs_cmd_fail EINVAL "${text//[\[\]]/}" chs_in lb chctl service add x tcp "$ep"
		chs_expect "services" "$(lb -j service show | jq length)" 0
		chs_cmd_ok chs_in lb chctl service add --force x tcp "$ep"
		[[ $(lb save) == "service add --force x tcp $ep "* ]] || chs_fail "saved without --force"
		lb service del x
	done
	for ep in "203.0.113.7:23-65535" "203.0.113.7:1-21" "203.0.113.7:22" \
		  "203.0.113.8:*" "203.0.113.8:1-65535"; do
		chs_cmd_ok chs_in lb chctl service add x tcp "$ep"
		chs_expect "saved" "$(lb save | grep -c -- --force)" 0
		lb service del x
	done
	# Not by way of a file either, nor of a change to another range.
	echo "service add x tcp 203.0.113.7:*" > "$CHS_TMP/file"
	chs_cmd_fail EINVAL "needs --force" chs_in lb chctl apply "$CHS_TMP/file"
	chs_cmd_fail EINVAL "needs --force" chs_in lb chctl -b "$CHS_TMP/file"
	lb service add x tcp 203.0.113.7:23-30
	chs_cmd_fail EINVAL "needs --force" chs_in lb chctl apply --replace "$CHS_TMP/file"
	[[ $(lb save) == "service add x tcp 203.0.113.7:23-30 "* ]] || chs_fail "changed"
}

chs_setup_ns cl lb
chs_link cl c0 lb l0
chs_ip lb addr add 192.0.2.1/24 dev l0
chs_ip lb addr add 2001:db8:a::1/64 dev l0 nodad
chs_ip lb route add unreachable "$CHS_VIP4"
chs_ip lb route add unreachable "$CHS_VIP6"
chs_setup
chs_run "forwarding is off" forwarding
chs_run "the address is neither local nor a dead end" routes
chs_run "the largest weight is under half of unit" coarse
chs_run "shares are off their target" off_target
chs_run "ports of this host's own sockets" sockets
chs_run "port 22 of this host" lockout
chs_done
