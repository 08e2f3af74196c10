# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # variables are for those who source it
#
# Finds the kernels that the tests build for and boot. Sourced.
#
# A kernel is installed on this machine, or unpacked below $CHS_CACHE/kernels
# by deps.sh: a kernel that is only booted in a VM has no business in the boot
# menu of the machine that runs the VM.

CHS_CACHE=${CHS_CACHE:-/var/cache/chsteer}

# The kernels that every change is built for and tested on, oldest first; then
# the one that looks for faults itself.
CHS_KERNELS=(6.1 6.12)
CHS_KERNEL_DEBUG=debug

# That one takes so many times as long, at most; time limits are in proportion.
CHS_DEBUG_SLOW=4

# Exit status of vm/run.sh when it was the emulator that failed.
CHS_VM_NO_CPU=123

chs_kernel_releases()
{
	local dir

	for dir in /lib/modules/*/ "$CHS_CACHE"/kernels/*/; do
		[[ -d $dir ]] && basename "$dir"
	done | sort -uV
}

# The release of the kernel "debug", which vm/debug.sh builds: it names what it is
# made from, so that one made from anything else is not taken for it.
chs_debug_release()
{
	local vm version key

	vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/vm
	version=$(dpkg-query -W -f '${Version}' linux-source-6.12 2> /dev/null) || return
	[[ $version ]] || return
	key=$({
		echo "$version"
		gcc --version
		cat "$vm/debug.config" "$vm/debug.sh"
	} | sha256sum) || return
	echo "${version%%-*}-${key:0:8}-debug"
}

# chs_kernel_find KERNEL: KERNEL is a series (6.1), a release (6.1.0-40-amd64)
# or "debug". Sets KVER to the newest that can be built for or booted, KBUILD to
# its build tree, KIMAGE and KMODULES to what boots; each is empty if absent.
chs_kernel_find()
{
	local want=$1 rel root score best=-1 debug=

	KVER='' KBUILD='' KIMAGE='' KMODULES=''
	[[ $want != debug ]] || debug=$(chs_debug_release) || return
	while read -r rel; do
		case $want in
		debug)	[[ $rel == "$debug" ]] || continue ;;
		*-*|*+*|*.*.*) [[ $rel == "$want" ]] || continue ;;
		*)	[[ $rel == "$want".* ]] || continue
			[[ $rel != *-rt-* && $rel != *-cloud-* &&
			   $rel != *-debug ]] || continue ;;
		esac

		score=0
		for root in "" "$CHS_CACHE/kernels/$rel"; do
			if [[ -e $root/boot/vmlinuz-$rel &&
			      -e $root/lib/modules/$rel/modules.dep ]]; then
				score=$((score + 1))
				break
			fi
		done
		if [[ -e /lib/modules/$rel/build/Makefile ||
		      -e $CHS_CACHE/kernels/$rel/build/Makefile ]]; then
			score=$((score + 1))
		fi
		# Releases come oldest first: at equal use the newer one wins.
		((score >= best)) && best=$score KVER=$rel
	done < <(chs_kernel_releases)

	[[ $KVER ]] || return 1
	for root in "" "$CHS_CACHE/kernels/$KVER"; do
		if [[ -z $KIMAGE && -e $root/boot/vmlinuz-$KVER &&
		      -e $root/lib/modules/$KVER/modules.dep ]]; then
			KIMAGE=$root/boot/vmlinuz-$KVER
			KMODULES=$root/lib/modules/$KVER
		fi
	done
	for root in "/lib/modules/$KVER" "$CHS_CACHE/kernels/$KVER"; do
		if [[ -z $KBUILD && -e $root/build/Makefile ]]; then
			KBUILD=$root/build
		fi
	done
	return 0
}
