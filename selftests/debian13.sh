#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetches kernels of Debian 13: the newest one of its backports, the same with
# PREEMPT_RT, and its own. Each is unpacked below $CHS_CACHE, to be booted in VMs;
# its headers lie in a root of that system beside its compiler, for this machine's
# may be older. Quick when all is there; once a day it looks for a newer kernel.
#
# usage: debian13.sh KERNEL...	of newest, rt and trixie
#        debian13.sh --ready KERNEL...	whether there is nothing to do

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

suites=(trixie trixie-backports)
# The series that Debian 13 came with.
own=6.12
# To build modules with; perl is kernel-doc's. It is unpacked only, not configured, in a third of the time.
tools=(base-files bash binutils coreutils dash diffutils findutils gcc grep libc-bin make mawk
	pahole perl sed)

root=$CHS_13/root
lists=$root/var/lib/apt/lists
log=$CHS_13/log

die()
{
	echo "debian13.sh: $*" >&2
	exit 1
}

# A root that another version of this file made is made again.
key()
{
	sed -n '/^suites=/,/^$/p' "$0" | sha256sum | cut -c 1-16
}

root_ready()
{
	[[ -e $root/.made && $(< "$root/.made") == "$(key)" ]]
}

# Whether somebody looked for newer kernels within the last day.
looked()
{
	[[ $(find "$CHS_13/looked" -mtime -1 2> /dev/null) ]]
}

ready()
{
	local kernel

	# To look takes what only root can do.
	root_ready && { ((EUID)) || looked; } || return
	for kernel; do
		chs_kernel_ready "$kernel" || return
	done
}

# apt COMMAND...: this machine's apt, with its settings, on the lists and the
# mirror of the root. apt in there would need this machine's network and proxies.
# Without a cache of what the lists say, which some machines are told not to keep,
# each command takes seconds.
apt()
{
	"apt-$1" -qq -o Dir::State::lists="$lists" -o Dir::Cache="$root/var/cache/apt" \
		-o Dir::Cache::pkgcache=pkg.bin -o Dir::Cache::srcpkgcache=src.bin \
		-o Dir::State::status="$root/var/lib/dpkg/status" \
		-o Dir::Etc::sourcelist="$CHS_13/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Acquire::Languages=none "${@:2}"
}

# The mirror is the one that apt has Debian from.
mirror()
{
	# shellcheck disable=SC2016 # apt replaces these
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
		sed -n 's/^Debian|Debian|//p' | sed q
}

sources()
{
	local uri suite keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	uri=$(mirror)
	[[ $uri ]] || die "apt has no mirror of Debian"
	[[ -e $keyring ]] || keyring=
	for suite in "${suites[@]}"; do
		echo "deb ${keyring:+[signed-by=$keyring] }$uri $suite main"
	done > "$CHS_13/sources.list"
}

root_make()
{
	local began=$SECONDS include

	command -v mmdebstrap > /dev/null || die "mmdebstrap is not installed; try make deps"
	echo "deps: a root of Debian 13 to build in"
	rm -rf "$root" "$root.new"
	apt-config dump | grep '^Acquire::' > "$CHS_13/apt.conf"
	include=$(IFS=,; echo "${tools[*]}")
	mmdebstrap --mode=root --variant=extract --include="$include" \
		--skip=cleanup/apt/lists --aptopt="$CHS_13/apt.conf" \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"${suites[0]}" "$root.new" "$CHS_13/sources.list" > "$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "mmdebstrap failed; all of it: $log"
	}
	# Alternatives are made by the scripts that did not run.
	ln -sf mawk "$root.new/usr/bin/awk"
	mkdir "$root.new/build"
	key > "$root.new/.made"
	mv "$root.new" "$root"
	touch "$CHS_13/looked"
	echo "deps: a root of Debian 13 took $((SECONDS - began)) s"
}

# A mirror that is not reached is no reason to stop: there is a kernel.
look()
{
	if apt get update > "$log" 2>&1; then
		touch "$CHS_13/looked"
	else
		echo "deps: no newer kernel was looked for: $(tail -n 1 "$log")" >&2
	fi
}

# release KERNEL: the newest in the archive that has image and headers.
release()
{
	local names rel series='[0-9]+\.[0-9]+' rt=

	case $1 in
	rt)	rt=-rt ;;
	trixie)	series=${own/./\\.} ;;
	esac
	names=$(apt cache pkgnames linux-)
	while read -r rel; do
		if grep -qxF "linux-headers-$rel" <<< "$names" &&
		   [[ $(apt cache policy "linux-image-$rel" "linux-headers-$rel") != \
		      *"Candidate: (none)"* ]]; then
			echo "$rel"
			return
		fi
	done < <(sed -nE "s/^linux-image-($series\.[0-9]+\+[^-]+$rt-amd64)$/\1/p" <<< "$names" |
		sort -rV)
}

# parts RELEASE: the packages that it consists of.
parts()
{
	local flavour=$1 version=${1%-amd64} names=("linux-image-$1" "linux-headers-$1")

	version=${version%-rt}
	flavour=${version//[.+]/\\&}
	printf '%s\n' "${names[@]}"
	# Two steps: image, binary, base.
	mapfile -t names < <(apt cache depends "${names[@]}" | part_names "$flavour")
	printf '%s\n' "${names[@]}"
	apt cache depends "${names[@]}" | part_names "$flavour"
}

part_names()
{
	grep -oE "linux-(base|binary|headers|image|kbuild|modules)-$1[^ >]*" |
		grep -v -e -unsigned -e -dbg || :
}

# unpack RELEASE
unpack()
{
	local rel=$1 names deb new=$CHS_13/kernels/$1.new

	mapfile -t names < <(parts "$rel" | sort -u)
	# The user that apt downloads as must be able to write here.
	rm -rf "$CHS_13/debs" "$new"
	mkdir -p "$CHS_13/debs" "$new"
	chown _apt "$CHS_13/debs" 2> /dev/null || :
	(cd "$CHS_13/debs" && apt get download "${names[@]}") > "$log" 2>&1 || {
		cat "$log" >&2
		die "kernel $rel cannot be fetched"
	}
	for deb in "$CHS_13"/debs/*.deb; do
		case ${deb##*/} in
		linux-headers-*|linux-kbuild-*)	dpkg-deb -x "$deb" "$root" ;;
		*)				dpkg-deb -x "$deb" "$new" ;;
		esac
	done
	rm -rf "$CHS_13/debs"
	[[ -e $new/lib ]] || ln -s usr/lib "$new/lib"
	depmod -b "$new" "$rel"
	rm -rf "$CHS_13/kernels/$rel"
	mv "$new" "$CHS_13/kernels/$rel"
}

# Kernels that no name leads to any more, after a while: VMs may run them still.
forget()
{
	local dir rel named

	for dir in "$CHS_13"/kernels/*/; do
		rel=$(basename "$dir")
		[[ $(find "$dir" -maxdepth 0 -mtime +14) ]] || continue
		named=$(readlink "$CHS_13"/{newest,rt,trixie} || :)
		[[ $named != *"kernels/$rel"* ]] || continue
		rm -rf "$dir" "$root/usr/src/linux-headers-$rel"
	done
}

fetch()
{
	local kernel=$1 rel began=$SECONDS

	rel=$(release "$kernel")
	[[ $rel ]] || die "the mirror has no kernel \"$kernel\" of Debian 13"
	if [[ ! -e $CHS_13/kernels/$rel || ! -e $root/usr/src/linux-headers-$rel/Makefile ]]; then
		echo "deps: kernel $rel ($kernel)"
		unpack "$rel"
		touch "$CHS_13/kernels/$rel"
		echo "deps: kernel $rel took $((SECONDS - began)) s"
	fi
	ln -sfn "kernels/$rel" "$CHS_13/$kernel"
	chs_kernel_ready "$kernel" || die "kernel $rel is still not there"
}

if [[ ${1:-} == --ready ]]; then
	shift
	ready "$@"
	exit
fi
! ready "$@" || exit 0

mkdir -p "$CHS_13/kernels"
exec 9> "$CHS_13/lock"
flock 9
! ready "$@" || exit 0
sources
if ! root_ready; then
	root_make
elif ! looked; then
	look
fi
for kernel; do
	fetch "$kernel"
done
forget
