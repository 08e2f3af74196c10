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
# the one that looks for faults itself. README.md has a table of all, which "make
# check" compares with these lists.
CHS_KERNELS=(6.1 6.12 newest)
CHS_KERNEL_DEBUG=debug

# Kernels of Debian 13, which debian13.sh unpacks and builds for with the compiler
# of that system: the newest of its backports, the same with PREEMPT_RT, and its own.
CHS_KERNELS_13=(newest rt trixie)
CHS_13=$CHS_CACHE/debian13

# The series that "newest" was when it was last tested.
CHS_NEWEST_TESTED=7.3

# That one takes so many times as long, at most; time limits are in proportion.
CHS_DEBUG_SLOW=4

# Exit status of vm/run.sh when it was the emulator that failed.
CHS_VM_NO_CPU=123

chs_kernel_releases()
{
	local dir

	for dir in /lib/modules/*/ "$CHS_CACHE"/kernels/*/ "$CHS_13"/kernels/*/; do
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

# chs_kernel_roots RELEASE: where it may lie, one line each.
chs_kernel_roots()
{
	echo ""
	echo "$CHS_CACHE/kernels/$1"
	echo "$CHS_13/kernels/$1"
}

# chs_kernel_image RELEASE: sets KIMAGE and KMODULES.
chs_kernel_image()
{
	local root

	KIMAGE='' KMODULES=''
	while read -r root; do
		KMODULES=$root/lib/modules/$1
		[[ -e $KMODULES/modules.dep ]] || continue
		for KIMAGE in "$root/boot/vmlinuz-$1" "$KMODULES/vmlinuz"; do
			[[ ! -e $KIMAGE ]] || return 0
		done
	done < <(chs_kernel_roots "$1")
	KIMAGE='' KMODULES=''
	return 1
}

# chs_kernel_build RELEASE: sets KBUILD and KROOT.
chs_kernel_build()
{
	local root

	KROOT=''
	while read -r root; do
		for KBUILD in "$root/lib/modules/$1/build" "$root/build"; do
			[[ $root || $KBUILD != /build ]] || continue
			[[ ! -e $KBUILD/Makefile ]] || return 0
		done
	done < <(chs_kernel_roots "$1")
	KBUILD=/usr/src/linux-headers-$1 KROOT=$CHS_13/root
	[[ ! -e $KROOT$KBUILD/Makefile ]] || return 0
	KBUILD='' KROOT=''
	return 1
}

# chs_kernel_find KERNEL: KERNEL is a series (6.1), a release (6.1.0-40-amd64),
# "debug", or one of CHS_KERNELS_13. Sets KVER to the newest that can be built for
# or booted, KBUILD to its build tree, KROOT to the root directory in which that is
# if it is not this machine's, KIMAGE and KMODULES to what boots; each is empty if
# absent.
chs_kernel_find()
{
	local want=$1 rel score best=-1 exact=

	KVER='' KBUILD='' KROOT='' KIMAGE='' KMODULES=''
	case $want in
	debug)		exact=$(chs_debug_release) || return ;;
	newest|rt|trixie)
		exact=$(readlink "$CHS_13/$want") || return
		exact=${exact##*/}
		;;
	*-*|*+*|*.*.*)	exact=$want ;;
	esac
	while read -r rel; do
		if [[ $exact ]]; then
			[[ $rel == "$exact" ]] || continue
		else
			[[ $rel == "$want".* && $rel != *-rt-* && $rel != *-cloud-* &&
			   $rel != *-debug ]] || continue
			# The kernel of this system, not the one of Debian 13.
			[[ -e /lib/modules/$rel || -e $CHS_CACHE/kernels/$rel ]] || continue
		fi
		score=0
		! chs_kernel_image "$rel" || score=$((score + 1))
		! chs_kernel_build "$rel" || score=$((score + 1))
		# Releases come oldest first: at equal use the newer one wins.
		((score >= best)) && best=$score KVER=$rel
	done < <(chs_kernel_releases)

	# A system of which headers cannot be had without a kernel has it there.
	if ((best < 2)) && [[ $want == 6.12 ]] && rel=$(readlink "$CHS_13/trixie"); then
		KVER=${rel##*/}
	fi
	[[ $KVER ]] || return 1
	chs_kernel_image "$KVER"
	chs_kernel_build "$KVER"
	return 0
}

# chs_kernel_ready KERNEL: it is found whole.
chs_kernel_ready()
{
	chs_kernel_find "$1" && [[ $KIMAGE && $KBUILD ]]
}

# chs_kernels_here: those of CHS_KERNELS that this system has, and says which are left
# out: deps.sh has fetched all that there are.
chs_kernels_here()
{
	local kernel

	for kernel in "${CHS_KERNELS[@]}"; do
		if chs_kernel_ready "$kernel"; then
			echo "$kernel"
		else
			echo "# kernel $kernel is left out: this system has none" >&2
		fi
	done
}

# chs_kernel_moved: a line if "newest" is of another series than was tested.
chs_kernel_moved()
{
	local rel

	rel=$(readlink "$CHS_13/newest") || return 0
	rel=${rel##*/}
	[[ $rel == "$CHS_NEWEST_TESTED".* ]] ||
		echo "newest kernel is now $rel, tested series was $CHS_NEWEST_TESTED"
}
