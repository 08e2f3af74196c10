#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the kernel "debug", debug.config, from Debian's source, below
# $CHS_CACHE; quick if it is there. Its release contains a hash of all that it
# is made from, so that any change makes another one, beside it.
#
# What is kept is the kernel, as an ELF file, which QEMU starts without
# unpacking it, its modules, and what building a module against it needs.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../kernels.sh
. "$here/../kernels.sh"

archive=/usr/src/linux-source-6.12.tar.xz

if ! release=$(chs_debug_release) || [[ ! -e $archive ]]; then
	echo "debug.sh: the source of the kernel, $archive, is not installed" >&2
	exit 1
fi
root=$CHS_CACHE/kernels/$release
[[ ! -e $root ]] || exit 0

# Another one that builds the same is waited for.
mkdir -p "$CHS_CACHE/kernels"
exec 9> "$CHS_CACHE/debug.lock"
flock 9
[[ ! -e $root ]] || exit 0

work=$CHS_CACHE/debug.build
log=$CHS_CACHE/debug.log
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
began=$SECONDS

failed()
{
	tail -n 40 "$log" >&2
	echo "debug.sh: $1; all of it: $log" >&2
	exit 1
}

# What did not change since another kernel "debug" was built is not compiled again.
cc=gcc
if [[ $(command -v ccache) ]]; then
	cc='ccache gcc'
	export CCACHE_DIR=$CHS_CACHE/ccache CCACHE_MAXSIZE=1G
fi

kmake()
{
	make --no-print-directory -C "$work/linux" CC="$cc" KBUILD_BUILD_USER=chsteer \
		KBUILD_BUILD_HOST=chsteer LOCALVERSION="-${release#*-}" "$@"
}

# Without most of what is configured out, but with the Kconfig files of all: it
# takes a third of the time.
unpack()
{
	local path skip=()

	for path in arch/{a,c,h,l,m,n,o,p,r,s,u,xt}'*/' 'Documentation/*/' drivers/gpu/ \
		drivers/infiniband/ drivers/media/ drivers/net/ethernet/ \
		drivers/net/wireless/ drivers/scsi/ drivers/staging/ drivers/usb/ \
		rust/ samples/ sound/ tools/perf/ tools/testing/; do
		skip+=(--exclude="linux-source-6.12/$path*.[chsS]")
		skip+=(--exclude="linux-source-6.12/$path*.dts*")
		skip+=(--exclude="linux-source-6.12/$path*.rst")
	done
	mkdir "$work/linux"
	tar -xJf "$archive" -C "$work/linux" --strip-components=1 "${skip[@]}"
}

# KASAN is to watch the code that may have an object of the module in its hands.
# Elsewhere it would only cost time, when building and each time it runs. So would
# more of a stack than tells who allocated and who freed.
spare()
{
	local dir file tree=$work/linux

	for dir in arch/x86 crypto drivers/{base,char,pci,tty,virtio} fs init ipc \
		kernel/{cgroup,dma,entry,events,futex,irq,module,power,printk,sched,trace} \
		mm net/{802,8021q,9p,bridge,ethtool,llc,packet,sctp,sched,unix,xfrm} \
		net/netfilter/ipvs security; do
		find "$tree/$dir" -name Makefile \
			-exec sed -i '1i KASAN_SANITIZE := n' {} +
	done
	for file in "$tree"/kernel/locking/lockdep.c "$tree"/net/ipv4/tcp*.c \
		"$tree"/net/netfilter/{nf_tables,nft}_*.c; do
		dir=${file%/*} file=${file##*/}
		sed -i "1i KASAN_SANITIZE_${file%.c}.o := n" "$dir/Makefile"
	done
	sed -i 's/\(#define KASAN_STACK_DEPTH\) .*/\1 12/' "$tree/mm/kasan/kasan.h"
}

# A name that this version does not know, or that depends on another one, would
# be left out in silence.
configure()
{
	local line missing=0

	kmake -s KCONFIG_ALLCONFIG="$here/debug.config" allnoconfig || return
	while read -r line; do
		if ! grep -qxF "$line" "$work/linux/.config"; then
			echo "not in force: $line"
			missing=1
		fi
	done < <(grep -E '^(# )?CONFIG_' "$here/debug.config")
	return $missing
}

install_kernel()
{
	mkdir -p "$work/root/boot"
	strip -o "$work/root/boot/vmlinuz-$release" "$work/linux/vmlinux" &&
	kmake -s INSTALL_MOD_PATH="$work/root" INSTALL_MOD_STRIP=1 modules_install &&
	kmake -s KBUILD_RUN_COMMAND="scripts/package/install-extmod-build $work/root/build" \
		run-command &&
	cp "$work/linux/.config" "$work/root/build/" &&
	rm -f "$work/root/lib/modules/$release/build" \
		"$work/root/lib/modules/$release/source" &&
	[[ -e $work/root/lib/modules/$release/modules.dep ]]
}

echo "deps: building kernel $release, once, which takes a while: see $log"
{ unpack && spare; } > "$log" 2>&1 || failed "the source does not unpack"
configure >> "$log" 2>&1 || failed "the configuration is not what was asked for"
kmake -j"${CHS_JOBS:-$(nproc)}" vmlinux modules >> "$log" 2>&1 || failed "the kernel does not build"
install_kernel >> "$log" 2>&1 || failed "the kernel does not install"
mv "$work/root" "$root"
find "$CHS_CACHE/kernels" -maxdepth 1 -name '*-debug' ! -name "$release" -mtime +14 \
	-exec rm -rf {} +
echo "deps: kernel $release took $((SECONDS - began)) s"
