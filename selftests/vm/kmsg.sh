# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What counts as a complaint of the kernel. Sourced, by host and guest.

# Bad page, oops, warning, lockup. A module from outside the kernel sets
# others (out of tree, unsigned) merely by being loaded.
# shellcheck disable=SC2034 # for those who source this file
KMSG_TAINT=17056

KMSG_BAD='Call Trace:|BUG:|WARNING:|Oops|general protection fault|Kernel panic'
KMSG_BAD+='|blocked for more than|rcu.*detected.*stall|soft lockup'
KMSG_BAD+='|ref_tracker:|unreferenced object|unregister_netdevice: waiting'
KMSG_BAD+='|Objects remaining in|refcount_t:|UBSAN:|BUG [^ ]+ \('
KMSG_BAD+='|INFO: trying to register|kmemleak: .*disabled'

# What the debug kernel finds in code of Linux that is not under test here: SCTP
# walks its addresses under the lock of the socket alone, when a COOKIE ECHO comes
# while a process holds that; nf_tables looks for a flowtable under its commit mutex.
KMSG_KNOWN='(net/sctp/bind_addr|net/netfilter/nf_tables_api)[.]c:[0-9]+'
KMSG_KNOWN+=' RCU-list traversed in non-reader section'

# kmsg_unknown: a log without those reports
kmsg_unknown()
{
	awk -v known="$KMSG_KNOWN" '
		/WARNING: suspicious RCU usage/ { held = 1; hit = 0; text = "" }
		!held { print; next }
		{ text = text $0 "\n" }
		$0 ~ known { hit = 1 }
		/<\/TASK>/ { if (!hit) printf "%s", text; held = 0 }
		END { if (held && !hit) printf "%s", text }'
}

# kmsg_no_cpu FILE: prints the flags that the CPU had at the first report of a
# console log, and succeeds, if no CPU can have them: bit 1 is always set, bits 3,
# 5, 15 and 22 to 31 never are, whatever a program does. On rare occasions QEMU 7.2
# takes a number for the flags (the test tests/tcg/i386/test-flags.c of later
# versions has one way to it); then the direction flag may be among them, and the
# kernel copies backwards from there on.
kmsg_no_cpu()
{
	local flags

	flags=$(sed -n '0,/chs-vm: begin/d
		/RSP: .*EFLAGS: [0-9a-f]\{8\}/{s/.*EFLAGS: \([0-9a-f]*\).*/\1/p;q}' "$1")
	[[ $flags ]] || return
	(((0x$flags & 0xffc0802a) != 2)) || return
	echo "$flags"
}

# From here on messages count; what the boot said does not.
kmsg_mark()
{
	# As an alert, or the console would not have it.
	echo "<1>chs-vm: begin" > /dev/kmsg
	dmesg -C
}

# Prints, behind '#', what the kernel complained of since kmsg_mark() or the
# last call, and fails if there was anything. The ring buffer is cleared, so
# that each complaint is charged to one test.
kmsg_check()
{
	local taint bad

	taint=$(($(< /proc/sys/kernel/tainted) & KMSG_TAINT))
	bad=$(dmesg | kmsg_unknown | grep -E -A 40 "$KMSG_BAD")
	dmesg -C
	if [[ $bad ]]; then
		echo "# the kernel complained:"
		# shellcheck disable=SC2001 # a prefix for every line
		sed 's/^/# /' <<< "$bad"
	fi
	# A taint does not go away: only a new one is news.
	if ((taint & ~${KMSG_TAINT_SEEN:-0})); then
		echo "# the kernel is tainted: mask $taint"
		KMSG_TAINT_SEEN=$taint
		return 1
	fi
	[[ -z $bad ]]
}
