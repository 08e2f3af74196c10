#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Translated packets have right checksums whoever computes them, sender, host or
# nobody yet (C-055); what is large arrives whole (C-056); and all fragments of
# a datagram go where lookup says (C-059, C-060).
#
#   cl ─── lb ─── sw ─── b1, b2
#
# With transmit offload off at cl, packets come with checksums that translation
# must amend; with it on, they come without, and lb computes them where it is
# off on its own link. Either way b1 and b2 verify them, and count.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

topology()
{
	local f

	chs_topo_t1 2 || return
	for f in 4 6; do
		echo "service add tcp$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add udp$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
		echo "backend add tcp$f $(chs_be "$f" 1) $(chs_be "$f" 2)"
		# Another port at the backend changes the checksum once more.
		echo "backend add udp$f $(chs_be "$f" 1) $(chs_ep "$(chs_be "$f" 2)" 54)"
	done | chs_batch || return
	chs_serve tcp:80,udp:53,udp:54 b1 b2 || return
	chs_conns_start cl cl
	chs_conns_start lb lb
}

# offload CLIENT HOST: on or off
offload()
{
	tx cl "$1" c0 && tx lb "$2" l0 l1
}

# tx NAME on|off DEVICE...: transmit checksums by the device, as ethtool -K does
tx()
{
	chs_in "$1" /usr/bin/python3 -EsS - "${@:2}" <<- 'EOF'
		import fcntl, socket, struct, sys, array
		SIOCETHTOOL, ETHTOOL_GTXCSUM, ETHTOOL_STXCSUM = 0x8946, 0x16, 0x17
		state = sys.argv[1] == "on"
		sock = socket.socket()
		for name in sys.argv[2:]:
		    for cmd in ETHTOOL_STXCSUM, ETHTOOL_GTXCSUM:
		        value = array.array("I", [cmd, state])
		        request = struct.pack("16sP16x", name.encode(),
		                              value.buffer_info()[0])
		        fcntl.ioctl(sock, SIOCETHTOOL, request)
		    if value[1] != state:
		        sys.exit(f"{name}: transmit offload stays {value[1]}")
	EOF
}

# bad: checksum errors of all kinds that anybody has counted
bad()
{
	local name

	for name in cl lb b1 b2; do
		chs_in "$name" nstat -asz | grep InCsumErrors
	done | awk '{ n += $2 } END { print n + 0 }'
}

# What is answered was received as it was sent: the client compares.
transfer()
{
	local f=$1 id=$2 size=$3

	chs_conns "$id" open tcp "$(chs_vip "$f")" 80 6
	chs_answers "TCP from $id" answered=6
	chs_conns "$id" exchange timeout=60000 size="$size"
	chs_answers "$size bytes by TCP from $id" answered=6 broken=0
	chs_conns "$id" reset
	chs_conns "$id" open udp "$(chs_vip "$f")" 53 6
	chs_answers "UDP from $id" answered=6
	chs_conns "$id" exchange size=1200
	chs_answers "1200 bytes by UDP from $id" answered=6 lost=0
	chs_conns "$id" reset
}

# How many there are is up to the ports: a few of 24 flows are b1's.
captured()
{
	(($(tcpdump -nr "$CHS_TMP/dump" 2> /dev/null | wc -l) > 3))
}

sums()
{
	local f=$1 dump

	offload "$2" "$3" || chs_fail "the offload cannot be set"
	chs_bg chs_in b1 tcpdump -i e0 --immediate-mode -U -w "$CHS_TMP/dump" -Q in \
		"port 80 or port 53"
	dump=$CHS_PID
	chs_busywait 10000 grep -q listening "$CHS_TMP/$dump.log" ||
		chs_fail "tcpdump does not start"
	transfer "$f" cl 20000
	transfer "$f" lb 20000
	chs_busywait 10000 captured || chs_fail "tcpdump sees nothing"
	chs_kill "$dump"
	chs_expect "checksum errors" "$(bad)" 0
	# Where the last link has offload, a packet may still be without one.
	[[ $3 == off ]] || return 0
	tcpdump -nvvr "$CHS_TMP/dump" > "$CHS_TMP/text" 2> /dev/null
	# The receivers' own counts, above, are the verdict. A capture on a busy
	# machine has been seen to show one wrong sum that no receiver met; what
	# is wrong by nature is wrong in every packet of its kind.
	grep -i -B 1 'incorrect\|bad.*cksum' "$CHS_TMP/text"
	chs_expect_range "wrong on the wire" \
		"$(grep -ci 'incorrect\|bad.*cksum' "$CHS_TMP/text")" 0 2
	(($(grep -c '(correct)\|udp sum ok' "$CHS_TMP/text") > 20)) ||
		chs_fail "none is right"
	rm -f "$CHS_TMP/dump"
}

large()
{
	local f=$1

	offload on on
	transfer "$f" cl 500000
	chs_expect "checksum errors" "$(bad)" 0
	# Merged packets are larger than the link takes; their segments are not.
	chs_expect "told to be too big" "$(chs_in lb nstat -asz |
		awk '/^(IcmpOutDestUnreachs|Icmp6OutPktTooBigs) / { n += $2 }
		     END { print n + 0 }')" 0
}

# Datagrams in three pieces each, also as the very first of their flow.
fragments()
{
	local f=$1 count=20 before src sport be port

	before=$(fragmented "$f")
	chs_conns cl open udp "$(chs_vip "$f")" 53 "$count"
	chs_answers small answered="$count"
	chs_conns cl exchange size=4000
	chs_answers fragments answered="$count" moved=0 lost=0
	chs_in lb conntrack -F 2> /dev/null
	chs_conns cl exchange size=4000
	chs_answers "fragments first" answered="$count" moved=0 lost=0
	(($(fragmented "$f") >= before + 6 * count)) ||
		chs_fail "the datagrams were not fragmented"

	chs_conns cl table "$CHS_TMP/table"
	while read -r _ src sport _ _ be _; do
		port=$([[ $be == b2 ]] && echo 54 || echo 53)
		echo "lookup udp $(chs_ep "$src" "$sport") $(chs_ep "$(chs_vip "$f")" 53)"
		chs_ep "$(chs_be "$f" "${be#b}")" "$port" >&3
	done < "$CHS_TMP/table" > "$CHS_TMP/asked" 3> "$CHS_TMP/reached"
	chs_in lb conntrack -F 2> /dev/null
	chs_batch < "$CHS_TMP/asked" | cut -d ' ' -f 2 |
		diff - "$CHS_TMP/reached" || chs_fail "lookup disagrees"
	chs_conns cl reset
	chs_expect "checksum errors" "$(bad)" 0
}

# fragmented FAMILY: pieces that the client has made
fragmented()
{
	local key=IpFragCreates

	[[ $1 == 6 ]] && key=Ip6FragCreates
	chs_in cl nstat -asz "$key" | awk -v key="$key" '$1 == key { print $2 }'
}

chs_require_cmd tcpdump nstat conntrack
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: the client computes checksums" sums $f off on
	chs_run "IPv$f: the host computes them" sums $f on off
	chs_run "IPv$f: either does" sums $f off off
	chs_run "IPv$f: large transfers" large $f
	chs_run "IPv$f: fragments" fragments $f
done
chs_done
