# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # results are for who sources it
#
# The packet generators, which hand packets to the receive path of a device: the
# kernel's own, and push.c, for packets of many segments, which that cannot make.
# Sourced, in the namespace that is measured.

GEN_DEV=in
GEN_TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/out
GEN_MARKS=	# does the plugin count?

# What receive offload makes of a transfer.
GEN_BYTES=32768
GEN_SEGMENT=1360

GEN_DEVICES=(-)	# a name of it for each thread

GEN_NS=		# nanoseconds and
GEN_SENT=	# packets of the last run

# gen_set N COMMAND: of thread N
gen_set()
{
	echo "${*:2}" > "/proc/net/pktgen/${GEN_DEVICES[$1]}"
}

gen_end()
{
	local file

	for file in /proc/net/pktgen/kpktgend_*; do
		echo rem_device_all > "$file"
	done
}

# gen_setup 4|6 MAC DESTINATION THREADS: packets of 60 bytes, UDP, from device GEN_DEV.
gen_setup()
{
	local n command commands=(
		"xmit_mode netif_receive"
		# Whoever touches a packet that is shared must copy it, which no
		# packet of a network asks for.
		"flag !SHARED"
		"pkt_size 60"
		"delay 0"
		"dst_mac $2"
		"udp_dst_min 80"
		"udp_dst_max 80"
	)

	case $1 in
	4)	commands+=("dst_min $3" "dst_max $3") ;;
	6)	commands+=("dst6 $3") ;;
	esac
	gen_end
	GEN_DEVICES=()
	for ((n = 0; n < $4; n++)); do
		GEN_DEVICES[n]=$GEN_DEV@$n
		echo "add_device ${GEN_DEVICES[n]}" > "/proc/net/pktgen/kpktgend_$n"
		for command in "${commands[@]}"; do
			gen_set "$n" "$command" || return
		done
	done
}

# gen_source N SOURCE FLOWS: one source address and so many source ports in turn.
gen_source()
{
	case $2 in
	*:*)	gen_set "$1" src6 "$2" ;;
	*)	gen_set "$1" src_min "$2"
		gen_set "$1" src_max "$2" ;;
	esac
	# The largest is left out, unless it is the only one.
	gen_set "$1" udp_src_min 1024
	gen_set "$1" udp_src_max $((1024 + $3))
}

# gen_run PACKETS: by each thread; it takes as long as the slowest.
gen_run()
{
	local line n

	for n in "${!GEN_DEVICES[@]}"; do
		gen_set "$n" count "$1"
	done
	if [[ $GEN_MARKS ]]; then
		"$GEN_TOOLS/mark" /proc/net/pktgen/pgctrl start || return
	else
		echo start > /proc/net/pktgen/pgctrl
	fi
	GEN_NS=0 GEN_SENT=0
	for n in "${GEN_DEVICES[@]}"; do
		line=$(grep '^Result: OK' "/proc/net/pktgen/$n") || return
		[[ $line =~ ^Result:\ OK:\ ([0-9]+).*usec,\ ([0-9]+)\  ]] || return
		((${BASH_REMATCH[1]}000 <= GEN_NS)) || GEN_NS=${BASH_REMATCH[1]}000
		((GEN_SENT += BASH_REMATCH[2]))
	done
}

# gen_push MAC SOURCE DESTINATION PACKETS
gen_push()
{
	GEN_NS=$("$GEN_TOOLS/push" ${GEN_MARKS:+-m} "$GEN_DEV" "$1" "$2" "$3" "$4" "$4" \
		"$GEN_BYTES" "$GEN_SEGMENT") || return
	GEN_SENT=$4
}
