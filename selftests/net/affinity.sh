#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
# cpus: 2
#
# Established connections stay where they are while others change, and end with
# their own backend, and with nothing else.
#
#   cl ─── lb ─── sw ─── b1 ... b4
#
# Services web4, web6 (port 80) and alt4, alt6 (port 81) share the backends.
# Who answers says the server itself, over each connection.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

services()
{
	local f i

	for f in 4 6; do
		echo "service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add alt$f tcp $(chs_ep "$(chs_vip "$f")" 81) $CHS_SMALL"
		for i in 1 2 3; do
			echo "backend add web$f $(chs_be "$f" "$i")"
			echo "backend add alt$f $(chs_be "$f" "$i")"
		done
	done
}

topology()
{
	chs_topo_t1 4 || return
	chs_cmd_ok chs_batch < <(services)
	chs_serve tcp:80,tcp:81 b1 b2 b3 b4 || return
	chs_conns_start old4 cl
	chs_conns_start old6 cl
	chs_conns_start new cl
}

# hold FAMILY COUNT: connections that are to last, on all of three backends.
hold()
{
	local i

	chs_conns "old$1" open tcp "$(chs_vip "$1")" 80 "$2"
	chs_answers opened answered="$2" broken=0
	for i in 1 2 3; do
		(($(chs_conns_get b"$i") > 0)) || chs_fail "none on b$i"
	done
}

# fresh FAMILY COUNT: that many new ones, which end again; the answer stays.
fresh()
{
	local answer

	chs_conns new open tcp "$(chs_vip "$1")" 80 "$2"
	answer=$CHS_OUT
	chs_conns new reset
	CHS_OUT=$answer
	chs_answers "new flows" answered="$2" broken=0
}

# stop FAMILY COUNT: ends "run"; every exchange went where the first one did.
stop()
{
	local rounds

	chs_conns "old$1" stop
	rounds=$(chs_conns_get rounds)
	((rounds >= 1)) || chs_fail "no traffic meanwhile"
	chs_answers "during the changes" answered=$((rounds * $2)) moved=0 \
		broken=0
	chs_conns "old$1" exchange
	chs_answers "after the changes" answered="$2" moved=0 broken=0
}

digest_of()
{
	chs_ctl ring digest "web$1"
}

# Changes of others and of itself, but for down and delete, disturb nobody.
others()
{
	local f=$1 count=$2 digest w b1 b2

	b1=$(chs_be "$f" 1) b2=$(chs_be "$f" 2)
	digest=$(digest_of "$f")
	chs_conns "old$f" run gap=10
	chs_cmd_ok chs_ctl backend add "web$f" "$(chs_be "$f" 4)"
	for w in 10 0 100; do
		chs_cmd_ok chs_ctl backend set "web$f" "$b1" weight "$w"
	done
	chs_cmd_ok chs_ctl backend drain "web$f" "$b2"
	chs_cmd_ok chs_ctl backend set "web$f" "$b2" state up
	chs_cmd_ok chs_ctl backend del "web$f" "$(chs_be "$f" 4)"
	stop "$f" "$count"
	chs_expect "digest afterwards" "$(digest_of "$f")" "$digest"
}

# New flows avoid a drained backend and one of weight 0, and come back.
avoid()
{
	local f=$1 b2

	b2=$(chs_be "$f" 2)
	chs_cmd_ok chs_ctl backend drain "web$f" "$b2"
	fresh "$f" 40
	chs_no_answer drained b2
	chs_cmd_ok chs_ctl backend set "web$f" "$b2" state up weight 0
	fresh "$f" 40
	chs_no_answer "weight 0" b2
	chs_cmd_ok chs_ctl backend set "web$f" "$b2" weight 100
	fresh "$f" 40
	(($(chs_conns_get b2) > 0)) || chs_fail "b2 does not come back"
}

round()
{
	local f

	for f in 4 6; do
		echo "backend drain web$f $(chs_be "$f" 2)"
	done
	for f in 4 6; do
		echo "backend set web$f $(chs_be "$f" 2) state up"
		echo "backend set web$f $(chs_be "$f" 3) weight 0"
	done
	for f in 4 6; do
		echo "backend set web$f $(chs_be "$f" 3) weight 100"
	done
}

# Flaps under traffic (C-018).
flap()
{
	local rounds=$3 d4 d6 i

	d4=$(digest_of 4) d6=$(digest_of 6)
	round > "$CHS_TMP/round"
	chs_conns old4 run gap=10
	chs_conns old6 run gap=10
	for ((i = 0; i < rounds; i++)); do
		chs_batch < "$CHS_TMP/round" || chs_fail "round $i"
	done
	stop 4 "$1"
	stop 6 "$2"
	chs_expect "digest of web4" "$(digest_of 4)" "$d4"
	chs_expect "digest of web6" "$(digest_of 6)" "$d6"
}

# With its backend goes a flow: the next owner, who does not know it, resets it
# at once. Nobody else notices, nor does the other service (C-014, C-015).
ends()
{
	local f=$1 mine all start

	shift
	chs_conns new open tcp "$(chs_vip "$f")" 81 30
	chs_answers "other service" answered=30
	(($(chs_conns_get b1) > 0)) || chs_fail "none of them on b1"
	chs_conns "old$f" exchange
	all=$(chs_conns_get total) mine=$(chs_conns_get b1)
	((mine > 0)) || chs_fail "none on b1"
	chs_answers before answered="$all"

	chs_cmd_ok chs_ctl backend "${@:1:1}" "web$f" "$(chs_be "$f" 1)" "${@:2}"
	start=$(chs_ms)
	chs_conns "old$f" exchange
	chs_answers "after $1" answered=$((all - mine)) moved=0 \
		broken="$mine" reset="$mine" timeout=0 b1=0
	# Nobody waited for a retransmission timer that never helps.
	chs_expect_range "ms until all knew" $(($(chs_ms) - start)) 0 $((8000 * CHS_SLOW))
	chs_conns new exchange
	chs_answers "other service" answered=30 moved=0 broken=0
	chs_conns new reset

	chs_conns "old$f" forget
	fresh "$f" 20
	chs_no_answer "after $1" b1
	chs_cmd_ok chs_ctl backend replace "web$f" "$(chs_be "$f" 1)" state up
	chs_conns "old$f" open tcp "$(chs_vip "$f")" 80 "$mine"
	chs_answers reopened answered="$mine"
}

# The weight and the drain are two things (C-011), and 0 is a weight (C-012).
weights()
{
	local f=$1 b1 b4 text

	b1=$(chs_ep "$(chs_be "$f" 1)" 80) b4=$(chs_ep "$(chs_be "$f" 4)" 80)
	chs_batch <<- EOF || chs_fail "changes refused"
		backend set web$f $b1 weight 11
		backend drain web$f $b1
		backend set web$f $b1 weight 9
	EOF
	chs_expect "weight in drain" "$(chs_be_stat "web$f" "$b1" weight)" 9
	chs_expect "share in drain" "$(chs_be_stat "web$f" "$b1" share)" 0.00%
	chs_cmd_ok chs_ctl backend set "web$f" "$b1" state up
	chs_expect "weight after it" "$(chs_be_stat "web$f" "$b1" weight)" 9
	# 9 of 209
	chs_expect target "$(chs_be_stat "web$f" "$b1" target)" 4.31%
	chs_cmd_ok chs_ctl backend set "web$f" "$b1" weight 100

	chs_cmd_ok chs_ctl backend add "web$f" "$b4" weight 0
	chs_expect "weight as added" "$(chs_be_stat "web$f" "$b4" weight)" 0
	fresh "$f" 40
	chs_no_answer "added with weight 0" b4
	text=$(chs_ctl save)
	[[ $text == *"backend add web$f $b4 weight 0"* ]] ||
		chs_fail "not saved as 0"
	chs_cmd_ok chs_ctl apply --replace - <<< "$text"
	chs_expect "weight as restored" "$(chs_be_stat "web$f" "$b4" weight)" 0
	chs_cmd_ok chs_ctl backend del "web$f" "$b4"
	chs_cmd_fail ENOENT "$(chs_be "$f" 4)" \
		chs_ctl backend set "web$f" "$b4" weight 1
}

# A new module, the old configuration: flows go on, and the first command after
# it has its effect (C-004, C-016).
reload()
{
	local d4 d6 f

	d4=$(digest_of 4) d6=$(digest_of 6)
	chs_cmd_ok chs_ctl save "$CHS_TMP/saved"
	chs_unload || chs_fail "does not unload"
	chs_load || chs_fail "does not load"
	chs_cmd_ok chs_ctl apply "$CHS_TMP/saved"
	chs_expect "digest of web4" "$(digest_of 4)" "$d4"
	chs_expect "digest of web6" "$(digest_of 6)" "$d6"
	for f in 4 6; do
		chs_cmd_ok chs_ctl backend set "web$f" "$(chs_be "$f" 2)" weight 0
		chs_expect "weight at once" "$(chs_be_stat "web$f" \
			"$(chs_ep "$(chs_be "$f" 2)" 80)" weight)" 0
		fresh "$f" 20
		chs_no_answer "after reload" b2
		chs_conns "old$f" exchange
		chs_answers "after reload" moved=0 broken=0
	done
}

chs_setup
chs_run "topology" topology
chs_run "IPv4: connections open" hold 4 120
chs_run "IPv6: connections open" hold 6 40
for f in 4 6; do
	n=$((f == 4 ? 120 : 40))
	chs_run "IPv$f: changes of others disturb nobody" others $f $n
	chs_run "IPv$f: new flows avoid drain and weight 0" avoid $f
done
flaps=$(chs_amount 30)
chs_run "$flaps flaps disturb nobody" flap 120 40 "$flaps"
for f in 4 6; do
	chs_run "IPv$f: del ends just its own flows" ends $f del
	chs_run "IPv$f: down ends just its own flows" ends $f set state down
	chs_run "IPv$f: weight and drain are two things" weights $f
done
chs_run "a reload keeps flows; the first command counts" reload
chs_done
