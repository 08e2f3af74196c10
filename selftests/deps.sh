#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what the commands of the Makefile need, on Debian 12 and 13. Quick when all
# is there.
#
# usage: deps.sh [--kernel KERNEL]... PURPOSE...	of those below
#
# Kernels are those of the purpose if none is named; of these the ones that the
# archive does not have are left out. A kernel that is not installed is unpacked below
# $CHS_CACHE instead: it is booted in VMs only, and this machine must go on booting
# what it boots now.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

# Of packages with a | between them, the first that the archive has.
declare -A packages_of=(
	[build]="gcc make libc6-dev libnl-genl-3-dev pkg-config"
	[vm]="qemu-system-x86 busybox-static cpio kmod util-linux iproute2 procps perl python3
		xz-utils"
	[demo]="nginx-light|nginx ipvsadm"
	[test]="conntrack curl gojq iperf3 iputils-ping ipvsadm jq netcat-openbsd nftables
		nginx-light|nginx socat tcpdump"
	[bench]="ipvsadm nftables"
	[fuzz]="clang CLANG-RT"
	[ynl]="python3 python3-yaml python3-jsonschema xz-utils linux-source-6.12"
	[check]="sparse shellcheck cppcheck clang lld llvm mandoc perl git cpio"
	[debug]="bc bison ccache flex libelf-dev xz-utils linux-source-6.12"
	[13]="mmdebstrap"
)

# Purposes that others include. Tests run the fuzzers on what they have found.
declare -A needs=(
	[shell]="build vm"
	[demo]="build vm"
	[unit]="build fuzz python"
	[test]="build vm unit"
	[bench]="build vm"
	[fuzz]="build"
	[check]="build ynl"
	[all]="build vm demo test bench fuzz ynl check"
)
packages_of[python]="python3"

usage()
{
	echo "usage: deps.sh [--kernel KERNEL]... PURPOSE...; one of" \
		"build shell demo unit test bench fuzz ynl check all" >&2
	exit 1
}

declare -A purposes=()
kernels=()

# purpose NAME: with what it includes.
purpose()
{
	local name

	[[ ! ${purposes[$1]:-} ]] || return 0
	purposes[$1]=y
	for name in ${needs[$1]:-}; do
		purpose "$name"
	done
}

while (($#)); do
	case $1 in
	--kernel)	kernels+=("${2:?}"); shift ;;
	build|shell|demo|unit|test|bench|fuzz|ynl|check|all)
			purpose "$1" ;;
	*)		usage ;;
	esac
	shift
done
((${#purposes[@]})) || usage

# Whether what is not there may be left out.
may_lack=
if ! ((${#kernels[@]})) && [[ ${purposes[test]:-}${purposes[check]:-} ]]; then
	kernels=("${CHS_KERNELS[@]}") may_lack=y
fi

# Those of this system, those of Debian 13, and the one that is built.
series_missing=() kernels_13=()
for kernel in "${kernels[@]}"; do
	case $kernel in
	debug)		purpose debug ;;
	newest|rt|trixie) kernels_13+=("$kernel") ;;
	*)		chs_kernel_ready "$kernel" || series_missing+=("$kernel") ;;
	esac
done
if ((${#kernels_13[@]})); then
	! "$here/debian13.sh" --ready "${kernels_13[@]}" || kernels_13=()
fi
((!${#kernels_13[@]})) || purpose 13

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')

is_installed()
{
	grep -qxF "$1" <<< "$installed"
}

# The library of sanitizers is named after the version of the compiler.
clang_rt()
{
	apt_cache depends clang 2> /dev/null |
		sed -n 's/^ *Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p'
}

missing=()
for name in "${!purposes[@]}"; do
	for package in ${packages_of[$name]:-}; do
		if [[ $package == CLANG-RT ]]; then
			grep -qE '^libclang-rt-[0-9]+-dev$' <<< "$installed" || missing+=("$package")
			continue
		fi
		for choice in ${package//|/ }; do
			! is_installed "$choice" || continue 2
		done
		missing+=("$package")
	done
done
if ((${#missing[@]})); then
	mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
fi

# Without lists it is not known what is left out, which was said when they were read.
if [[ $may_lack ]]; then
	remaining=()
	for kernel in "${series_missing[@]}"; do
		if [[ -e $CHS_CACHE/lacks-$kernel &&
		      $(find "$CHS_CACHE/lacks-$kernel" -mtime -1) ]]; then
			echo "deps: kernel $kernel is left out: the archive of this system has none"
		else
			remaining+=("$kernel")
		fi
	done
	series_missing=("${remaining[@]}")
fi

if ! ((${#missing[@]} + ${#series_missing[@]} + ${#kernels_13[@]})); then
	exit 0
fi
if ((EUID)); then
	echo "deps.sh: must be root to install: ${missing[*]}" \
		"${series_missing[*]/#/kernel } ${kernels_13[*]/#/kernel }" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# No boot image for a kernel that should come along.
export INITRD=No

apt_get()
{
	# Another run of apt on this machine is waited for.
	if ! apt-get -qq -o DPkg::Lock::Timeout=600 "$@" > "$log" 2>&1; then
		cat "$log" >&2
		echo "deps.sh: apt-get $* failed" >&2
		return 1
	fi
}
log=$(mktemp)
work=$(mktemp -d)
fetching=
trap 'rm -rf "$log" "$work"; [[ ! $fetching ]] || kill "$fetching" 2> /dev/null' EXIT

# Without a cache of what the lists say, which some machines are told not to keep,
# each command takes seconds.
apt_cache()
{
	apt-cache -o Dir::Cache::pkgcache="$work/pkg.bin" \
		-o Dir::Cache::srcpkgcache="$work/src.bin" "$@"
}

# Lists older than a day may name packages that the archive no longer has.
if [[ -z $(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mtime -1 -print -quit) ]]; then
	echo "deps: apt-get update"
	apt_get update
fi

# choose PACKAGE: prints the name by which the archive has it.
choose()
{
	local choice policy

	if [[ $1 == CLANG-RT ]]; then
		clang_rt
		return
	fi
	for choice in ${1//|/ }; do
		policy=$(apt_cache policy "$choice")
		if [[ $policy && $policy != *"Candidate: (none)"* ]]; then
			echo "$choice"
			return
		fi
	done
	# apt will say that it has none.
	echo "${1%%|*}"
}

install()
{
	local began=$SECONDS

	echo "deps: installing $*"
	apt_get install -y --no-install-recommends "$@"
	echo "deps: that took $((SECONDS - began)) s"
}

# The kernels of Debian 13 are fetched and unpacked beside what apt does here.
if ((${#kernels_13[@]})); then
	is_installed mmdebstrap || install mmdebstrap
	"$here/debian13.sh" "${kernels_13[@]}" &
	fetching=$!
fi

names=()
for package in "${missing[@]}"; do
	[[ $package == mmdebstrap ]] || names+=("$(choose "$package")")
done
((!${#names[@]})) || install "${names[@]}"

# kernel_newest SERIES: newest release in the archive that has image and headers.
kernel_newest()
{
	local series=${1//./\\.} known release

	known=$(apt_cache pkgnames linux-)
	while read -r release; do
		if grep -qxF "linux-headers-$release" <<< "$known" &&
		   [[ $(apt_cache policy "linux-image-$release" "linux-headers-$release") != \
		      *"Candidate: (none)"* ]]; then
			echo "$release"
			return
		fi
	done < <(sed -nE "s/^linux-image-($series\.[0-9]+[-+].*amd64)$/\1/p" <<< "$known" |
		grep -vE -- '-(rt|cloud|dbg|unsigned)' | sort -rV)
}

for series in "${series_missing[@]}"; do
	release=$(kernel_newest "$series")
	if [[ -z $release && $may_lack ]]; then
		echo "deps: kernel $series is left out: the archive of this system has none"
		mkdir -p "$CHS_CACHE"
		touch "$CHS_CACHE/lacks-$series"
		continue
	elif [[ -z $release ]]; then
		echo "deps.sh: the archive of this system has no kernel $series" >&2
		exit 1
	fi
	if [[ $(apt_cache depends "linux-headers-$release") == *"Depends: linux-image-"* ]]; then
		# They would bring a kernel to boot this machine with.
		is_installed mmdebstrap || [[ $fetching ]] || install mmdebstrap
		[[ ! $fetching ]] || wait "$fetching"
		fetching=
		"$here/debian13.sh" trixie
		continue
	fi
	echo "deps: kernel $release"
	if [[ ! -e /lib/modules/$release/build/Makefile ]]; then
		apt_get install -y --no-install-recommends "linux-headers-$release"
	fi
	if [[ ! -e /boot/vmlinuz-$release ]]; then
		root=$CHS_CACHE/kernels/$release
		mkdir -p "$CHS_CACHE/kernels"
		# The user that apt_get downloads as must be able to write here.
		chmod 755 "$work"
		chown _apt "$work" 2> /dev/null || :
		(cd "$work" && apt_get download "linux-image-$release")
		rm -rf "$root" "$root.new"
		mkdir "$root.new"
		dpkg-deb -x "$work/linux-image-$release"_*.deb "$root.new"
		depmod -b "$root.new" "$release"
		mv "$root.new" "$root"
		rm -f "$work"/*.deb
	fi
	if ! chs_kernel_ready "$series"; then
		echo "deps.sh: kernel $series is still not there" >&2
		exit 1
	fi
done

if [[ $fetching ]]; then
	wait "$fetching"
	fetching=
fi
