#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# First process of a test VM: runs the job that run.sh left in /run/chs-vm and
# says how it went on the verdict port. Whatever keeps this file from getting to
# that line is a failure in the eyes of the host.

job=/run/chs-vm
# shellcheck source=/dev/null
. "$job/env"
# shellcheck source=kmsg.sh
. "$CHS_VM_TREE/selftests/vm/kmsg.sh"

finish()
{
	# The close of the port waits until all of it is sent.
	printf '%s %s\n' "$CHS_VM_NONCE" "$1" > /dev/ttyS1
	sync
	echo b > /proc/sysrq-trigger
	while :; do read -r -t 60 <> <(:); done
}

port_find()
{
	local dir

	for dir in /sys/class/virtio-ports/*; do
		if [[ $(< "$dir/name") == output ]]; then
			echo "/dev/${dir##*/}"
			return
		fi
	done
	echo /dev/console
}

mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
[[ -e /dev/fd ]] || ln -s /proc/self/fd /dev/fd
mkdir -p /run/lock /run/netns
hostname "chs-vm"
ip link set lo up
stty -F /dev/ttyS1 raw -echo

export PATH=$CHS_VM_TREE/userspace:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 TERM=${CHS_VM_TERM:-dumb}
unset BASH_ENV

# Times as long as usual that things may take: an idle machine boots in less than
# twenty seconds.
read -r up _ < /proc/uptime
up=$((${up%.*} / 10))
export CHS_SLOW=$((up > CHS_VM_SLOW ? up : CHS_VM_SLOW))

kmsg_mark
if [[ $CHS_VM_SHELL ]]; then
	# shellcheck disable=SC2086 # rows and columns are two words
	stty -F /dev/ttyS0 sane $CHS_VM_STTY
	setsid -c bash "$job/command" < /dev/ttyS0 > /dev/ttyS0 2>&1
	finish 0
fi

echo 7 > /proc/sys/kernel/printk
port=$(port_find)
setsid bash "$job/command" < /dev/null > "$port" 2>&1
status=$?
if ! kmsg_check > "$port" && ((status == 0)); then
	status=1
fi
finish "$status"
