#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the VM: measures cases, and prints of each a line a repetition:
#
#   result CASE PACKETS NANOSECONDS
#   scale CASE THREADS PACKETS NANOSECONDS	with --threads, instead
#   control CASE INSTRUCTIONS NANOSECONDS	of a change, with and without its waits
#   failed CASE WHY
#
# usage: guest.sh [--packets N] [--repeat N] [--marks [--stores]] [--threads "N..."] CASE...
#
# A CASE is a line of the file "cases". With --marks the emulator's plugin is told
# what to count; lines "counted CASE PACKETS" follow, and what the addresses belong to.
# With --stores also what memory is; the first repetition begins a second of its own.
# With --threads so many CPUs at once make packets of their own.

set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../module.sh
. "$here/../module.sh"
# shellcheck source=contenders.sh
. "$here/contenders.sh"
# shellcheck source=generate.sh
. "$here/generate.sh"
# shellcheck source=control.sh
. "$here/control.sh"

packets=4000 repeat=3 marks='' stores='' threads=''

die()
{
	echo "failed $name $*"
	exit 1
}

sent()
{
	cat /sys/class/net/out/statistics/tx_packets
}

# round N: as many packets as there are flows, each of another, from clients that
# only round N has
round()
{
	local before expect=$((packets * ${#GEN_DEVICES[@]})) n

	before=$(sent)
	if [[ $flows == gro ]]; then
		client "$1"
		gen_push "$mac" "$REPLY" "$destination" "$packets"
	else
		for n in "${!GEN_DEVICES[@]}"; do
			client $(($1 * ${#GEN_DEVICES[@]} + n))
			gen_source "$n" "$REPLY" "$packets"
		done
		gen_run "$packets"
	fi || die "the generator failed"
	((GEN_SENT == expect)) || die "$GEN_SENT packets of $expect were made"
	# Nothing else is sent there: what is not measured must not look cheap.
	[[ $contender == none ]] && expect=0
	(($(sent) - before == expect)) ||
		die "$(($(sent) - before)) packets of $expect left"
}

# In a namespace of its own.
measure()
{
	local mac=02:00:00:00:00:01 destination n

	network || die "no network"
	if [[ $flows == control ]]; then
		control_measure
		return
	fi
	{ remember && "setup_${contender//-/_}"; } > "$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		die "set-up"
	}
	# It is for another host, which is the first that IP looks at.
	[[ $contender != none ]] || mac=02:00:00:00:00:ff
	vip 0
	[[ $contender != forward* && $flows != foreign ]] || foreign
	destination=$REPLY
	for n in ${threads:-1}; do
		# Older kernels lack a flag.
		[[ $flows == gro ]] || gen_setup "$family" "$mac" "$destination" "$n" ||
			die "the generator does not know what is asked of it"
		rounds
	done
	[[ $flows == gro ]] || gen_end
}

rounds()
{
	local n

	GEN_MARKS=$marks
	# Lets the set-up settle, and what is done once be done.
	sleep 1
	# A flowtable takes in a connection with its second packet.
	for ((n = 0; n < 2; n++)); do
		round 0
		[[ ! $marks ]] || echo "counted - $GEN_SENT"
	done
	[[ ! $stores ]] || sleep 1
	for ((n = 1; n <= repeat; n++)); do
		case $flows in
		new)	round "$n" ;;
		*)	round 0 ;;
		esac
		if [[ $threads ]]; then
			echo "scale $name ${#GEN_DEVICES[@]} $GEN_SENT $GEN_NS"
		else
			echo "result $name $GEN_SENT $GEN_NS"
		fi
		[[ ! $marks ]] || echo "counted $name $GEN_SENT"
	done
}

one()
{
	ip netns add bench
	ip netns exec bench "$0" --inside --packets "$packets" --repeat "$repeat" \
		${marks:+--marks} ${stores:+--stores} --threads "$threads" "$1"
	ip netns delete bench
	# It goes in the background; time costs nothing when nothing is done in it.
	sleep 3
}

# "symbol ADDRESS NAME [MODULE]", and where the sections of this module are.
symbols()
{
	local section address

	sed -n 's/ [tTwW] / /p' /proc/kallsyms | sed 's/^/symbol /'
	for section in /sys/module/chsteer/sections/.*text*; do
		read -r address < "$section" && echo "section ${section##*/} $address"
	done
}

# word SYMBOL: the eight bytes of the kernel's that begin there
word()
{
	local address offset start size

	address=0x$(awk -v symbol="$1" '$3 == symbol { print $1; exit }' /proc/kallsyms)
	while read -r _ offset start _ size _; do
		((address >= start && address < start + size)) || continue
		dd if=/proc/kcore bs=8 count=1 iflag=skip_bytes status=none \
			skip=$((offset + address - start)) | od -A n -t x8 | tr -d ' '
		return
	done < <(readelf -lW /proc/kcore | grep LOAD)
}

# "percpu START END", of the one CPU, and "data ADDRESS NAME [MODULE]"
memory()
{
	local start

	# Tells root what they are.
	echo 1 > /proc/sys/kernel/kptr_restrict
	start=0x$(word pcpu_base_addr)
	printf 'percpu %x %x\n' "$start" $((start + (0x$(word pcpu_unit_size) & 0xffffffff)))
	sed -n 's/^0x\([0-9a-f]*\)-0x\([0-9a-f]*\) .* pcpu_get_vm_areas.*/percpu \1 \2/p' \
		/proc/vmallocinfo
	sed -n 's/ [bBdDrR] / /p' /proc/kallsyms | sed 's/^/data /'
}

inside=
while (($#)); do
	case $1 in
	--inside)	inside=y ;;
	--packets)	packets=$2; shift ;;
	--repeat)	repeat=$2; shift ;;
	--marks)	marks=y ;;
	--stores)	stores=y ;;
	--threads)	threads=$2; shift ;;
	*)		break ;;
	esac
	shift
done

if [[ $inside ]]; then
	work=$(mktemp -d)
	read -r name contender family flows backends services affinity <<< "$1"
	measure
	rm -rf "$work"
	exit 0
fi

modprobe -a pktgen ip_vs ip_vs_mh nf_conntrack nft_ct nft_nat nft_hash dummy tun
chs_load || exit 1
for line in "$@"; do
	one "$line"
done
[[ ! $marks ]] || symbols
[[ ! $stores ]] || memory
chs_unload
