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

GEN_NS=		# nanoseconds and
GEN_SENT=	# packets of the last run

gen_set()
{
	echo "$*" > "/proc/net/pktgen/$GEN_DEV"
}

# gen_setup 4|6 MAC DESTINATION: packets of 60 bytes, UDP, from device GEN_DEV.
gen_setup()
{
	echo rem_device_all > /proc/net/pktgen/kpktgend_0
	echo "add_device $GEN_DEV" > /proc/net/pktgen/kpktgend_0
	gen_set xmit_mode netif_receive
	# Whoever touches a packet that is shared must copy it, which no packet of
	# a network asks for.
	gen_set flag '!SHARED'
	gen_set pkt_size 60
	gen_set delay 0
	gen_set dst_mac "$2"
	gen_set udp_dst_min 80
	gen_set udp_dst_max 80
	case $1 in
	4)	gen_set dst_min "$3"
		gen_set dst_max "$3" ;;
	6)	gen_set dst6 "$3" ;;
	esac
}

# gen_source SOURCE FLOWS: one source address and so many source ports in turn.
gen_source()
{
	case $1 in
	*:*)	gen_set src6 "$1" ;;
	*)	gen_set src_min "$1"
		gen_set src_max "$1" ;;
	esac
	# The largest is left out, unless it is the only one.
	gen_set udp_src_min 1024
	gen_set udp_src_max $((1024 + $2))
}

# gen_run PACKETS
gen_run()
{
	local line

	gen_set count "$1"
	# As "echo start", between marks.
	if [[ $GEN_MARKS ]]; then
		"$GEN_TOOLS/mark" /proc/net/pktgen/pgctrl start || return
	else
		echo start > /proc/net/pktgen/pgctrl
	fi
	line=$(grep '^Result: OK' "/proc/net/pktgen/$GEN_DEV") || return
	[[ $line =~ ^Result:\ OK:\ ([0-9]+).*usec,\ ([0-9]+)\  ]] || return
	GEN_NS=${BASH_REMATCH[1]}000
	GEN_SENT=${BASH_REMATCH[2]}
}

# gen_push MAC SOURCE DESTINATION PACKETS
gen_push()
{
	GEN_NS=$("$GEN_TOOLS/push" ${GEN_MARKS:+-m} "$GEN_DEV" "$1" "$2" "$3" "$4" "$4" \
		"$GEN_BYTES" "$GEN_SEGMENT") || return
	GEN_SENT=$4
}
