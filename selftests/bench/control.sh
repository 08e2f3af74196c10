# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # a case's fields are set by who sources it
#
# What changes cost. Sourced after contenders.sh. For each contender a function that
# prepares, one that does what is measured, by way of "timed", and one after which
# it can be done again.

# control_chsteer [OPTION...]: as many backends in each service, else with all
# defaults
control_chsteer()
{
	local n m

	for ((n = 0; n < services; n++)); do
		service "$n"
		echo "service add s$n udp $REPLY mode route $*"
		for ((m = 0; m < backends; m++)); do
			backend_of "$m" "$n"
			echo "backend add s$n $REPLY"
		done
	done > "$work/chsteer"
}

control_ipvs()
{
	local n m service

	for ((n = 0; n < services; n++)); do
		service "$n"
		service=$REPLY
		echo "-A -u $service -s mh -b mh-port"
		for ((m = 0; m < backends; m++)); do
			backend_of "$m" "$n"
			echo "-a -u $service -r $REPLY -g -w 1"
		done
	done > "$work/ipvs"
}

# What was made must be there.
count_is()
{
	(($(wc -l) == $1))
}

prepare_apply() { control_chsteer; }
do_apply() { timed chctl apply "$work/chsteer"; }
check_apply() { chctl backend show | count_is $((services * backends)); }
undo_apply() { chctl flush; }

prepare_apply_64() { control_chsteer points 64; }
do_apply_64() { do_apply; }
check_apply_64() { check_apply; }
undo_apply_64() { undo_apply; }

prepare_restore() { control_ipvs; }
do_restore() { timed ipvsadm -R < "$work/ipvs"; }
check_restore() { ipvsadm -S -n | count_is $((services * (backends + 1))); }
undo_restore() { ipvsadm -C; }

# One backend of one service, all others of which are small.
prepare_weight() { chsteer route; }
do_weight() { timed chctl backend set s0 "$endpoint" weight 50; }
check_weight() { [[ $(chctl backend show s0) == *" weight 50 "* ]]; }
undo_weight() { chctl backend set s0 "$endpoint" weight 100; }

prepare_ipvs_weight() { ipvs -g; }
do_ipvs_weight() { timed ipvsadm -e -u "$virtual" -r "$endpoint" -g -w 50; }
check_ipvs_weight() { [[ $(ipvsadm -S -n) == *" -w 50"* ]]; }
undo_ipvs_weight() { ipvsadm -e -u "$virtual" -r "$endpoint" -g -w 1; }

# timed COMMAND...
timed()
{
	"$GEN_TOOLS/spent" ${marks:+-m} "$work/spent" "$@"
}

# control_measure: prints "control CASE INSTRUCTIONS NANOSECONDS", a line a time.
control_measure()
{
	local what=${contender//-/_} endpoint virtual n repeat=$repeat

	# A minute each in an emulator, and the same each time.
	((services * backends < 10000)) || [[ $what == *weight ]] || repeat=1

	service 0
	virtual=$REPLY
	backend_of 0 0
	endpoint=$REPLY
	# Their files come from the host.
	chctl -V > /dev/null
	ipvsadm -L > /dev/null
	control_step "prepare_$what"
	for ((n = 1; n <= repeat; n++)); do
		sleep 1
		control_step "do_$what"
		"check_$what" || die "it did not do what it should"
		echo "control $name $(< "$work/spent")"
		[[ ! $marks ]] || echo "counted $name 1"
		control_step "undo_$what"
	done
}

control_step()
{
	"$1" > "$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		die "$1"
	}
}
