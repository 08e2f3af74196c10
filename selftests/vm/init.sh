#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# The initramfs of a test VM: makes the host's root, read-only over 9p under a
# throw-away overlay, the root of the guest and hands over to guest.sh.

/bin/busybox mkdir -p /dev /proc /sys /lower /rw /root
/bin/busybox --install -s /bin
export PATH=/bin

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys

die()
{
	echo "init: $*" > /dev/console
	echo b > /proc/sysrq-trigger
}

while read -r module; do
	insmod "/modules/$module" || die "cannot load $module"
done < /modules/order

# shellcheck source=/dev/null
. /job/env

mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 \
	root /lower || die "cannot mount the host's root"
mount -t tmpfs -o size=75% rw /rw
mkdir /rw/upper /rw/work
# See hot.py for the middle layer.
mount -t overlay -o lowerdir=/hot:/lower,upperdir=/rw/upper,workdir=/rw/work \
	overlay /root || die "cannot mount the overlay"

# The kernel's own modules may be unpacked elsewhere than in /lib/modules.
if [ "$CHS_VM_MODULES" != "/lib/modules/$CHS_VM_KVER" ]; then
	mkdir -p "/root/lib/modules/$CHS_VM_KVER"
	mount -o bind "/lower$CHS_VM_MODULES" "/root/lib/modules/$CHS_VM_KVER" ||
		die "cannot mount the kernel's modules"
fi

mount -t tmpfs run /root/run
mkdir /root/run/chs-vm
cp /job/* /root/run/chs-vm/
for dir in dev proc sys; do
	mount -o move /$dir /root/$dir
done
# Not switch_root, which would delete the middle layer.
cd /root || die "no root"
mount -o move . /
exec chroot . /bin/bash "$CHS_VM_TREE/selftests/vm/guest.sh" ||
	die "cannot switch to the new root"
