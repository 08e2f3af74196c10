#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what building and testing need, on Debian 12. Quick when all is there.
#
# usage: deps.sh [--debug]	also builds the kernel "debug"
#
# A kernel that is not installed is unpacked below $CHS_CACHE instead: it is
# booted in VMs only, and this machine must go on booting what it boots now.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

case ${1:-} in
'')		finish=(true) ;;
--debug)	finish=("$here/vm/debug.sh") ;;
*)		echo "usage: deps.sh [--debug]" >&2; exit 1 ;;
esac

packages=(
	# to build
	gcc make libc6-dev libnl-3-dev libnl-genl-3-dev pkg-config
	# to build the kernel "debug"
	bc bison flex libelf-dev
	# to check
	sparse shellcheck cppcheck clang libclang-rt-14-dev python3 python3-yaml
	python3-jsonschema mandoc perl git xz-utils linux-source-6.12
	# to boot VMs
	qemu-system-x86 busybox-static cpio kmod util-linux
	# what tests use in them
	iproute2 iputils-ping nftables iperf3 tcpdump conntrack ipvsadm curl nginx-light socat
	netcat-openbsd procps jq gojq
)

export DEBIAN_FRONTEND=noninteractive
# No boot image for a kernel that should come along.
export INITRD=No

missing=()
for package in "${packages[@]}"; do
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] ||
		missing+=("$package")
done

series_missing=()
for series in "${CHS_KERNELS[@]}"; do
	if ! chs_kernel_find "$series" || [[ -z $KIMAGE || -z $KBUILD ]]; then
		series_missing+=("$series")
	fi
done

if ! ((${#missing[@]} + ${#series_missing[@]})); then
	exec "${finish[@]}"
fi
if ((EUID)); then
	echo "deps.sh: must be root to install: ${missing[*]} ${series_missing[*]/#/kernel }" >&2
	exit 1
fi

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
trap 'rm -rf "$log" "$work"' EXIT

# Lists older than a day may name packages that the archive no longer has.
if [[ -z $(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mtime -1 -print -quit) ]]; then
	echo "deps: apt-get update"
	apt_get update
fi

if ((${#missing[@]})); then
	echo "deps: installing ${missing[*]}"
	apt_get install -y --no-install-recommends "${missing[@]}"
fi

# kernel_newest SERIES: newest release in the archive that has image and headers.
kernel_newest()
{
	local series=${1//./\\.} known release

	known=$(apt-cache pkgnames linux-)
	while read -r release; do
		if grep -qxF "linux-headers-$release" <<< "$known" &&
		   ! apt-cache policy "linux-image-$release" "linux-headers-$release" |
		     grep -q 'Candidate: (none)'; then
			echo "$release"
			return
		fi
	done < <(sed -nE "s/^linux-image-($series\.[0-9]+[-+].*amd64)$/\1/p" <<< "$known" |
		grep -vE -- '-(rt|cloud|dbg|unsigned)' | sort -rV)
}

for series in "${series_missing[@]}"; do
	release=$(kernel_newest "$series")
	if [[ -z $release ]]; then
		echo "deps.sh: the archive has no kernel $series" >&2
		exit 1
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
	if ! chs_kernel_find "$series" || [[ -z $KIMAGE || -z $KBUILD ]]; then
		echo "deps.sh: kernel $series is still not there" >&2
		exit 1
	fi
done

"${finish[@]}"
