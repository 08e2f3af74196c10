#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module for one kernel in a copy of its sources, so that builds for
# several kernels neither disturb each other nor the tree. Any warning is an
# error here.
#
# usage: build.sh KERNEL [MAKE-ARGUMENT...]	prints the module's path

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=../kernels.sh
. "$top/selftests/kernels.sh"

kernel=${1:?usage: build.sh KERNEL [MAKE-ARGUMENT...]}
shift
if ! chs_kernel_find "$kernel" || [[ -z $KBUILD ]]; then
	echo "build.sh: no build tree for kernel $kernel; try make deps" >&2
	exit 1
fi

out=$here/out/$KVER/build
mkdir -p "$out/kmod"
exec 9> "$out/.lock"
flock 9

# Only what changed is built again. It is as new as its copy: with the time of its
# change it could seem older than an object of another build.
cp -u "$top/Kbuild" "$out/"
(cd "$top/kmod" && find . -type f \( -name '*.[ch]' -o -name 'Kbuild*' \) ! -name '*.mod.c' \
	-exec cp -u --parents -t "$out/kmod" {} +)
(cd "$out/kmod" && find . -type f -name '*.[ch]' ! -name '*.mod.c' -print0) |
while IFS= read -r -d '' file; do
	[[ -e $top/kmod/$file ]] || rm -f "$out/kmod/$file"
done

# in_root COMMAND...: in the root that has the compiler of the kernel, with the copy as
# /build. The mounts are seen by nobody else and gone with the last process. objtool
# needs /proc.
in_root()
{
	# shellcheck disable=SC2016 # for that shell
	# In a chroot the root directory may be no mount point, and is left as it is.
	unshare --mount --propagation unchanged bash -ec '
		mount --make-rprivate / 2> /dev/null || :
		mount -t proc proc "$1/proc"
		mount --bind "$2" "$1/build"
		exec chroot "$1" "${@:3}"' in_root "$KROOT" "$out" "$@"
}

run=() module=$out
[[ ! $KROOT ]] || run=(in_root) module=/build
log=$out/build.log
if ! "${run[@]}" make --no-print-directory -C "$KBUILD" M="$module" W=1 KCFLAGS=-Werror \
	-j"$(nproc)" "$@" modules > "$log" 2>&1 || grep -q 'warning:' "$log"; then
	echo "build.sh: the module does not build cleanly for $KVER:" >&2
	grep -vE "^  (CC|CHECK|LD|AR|MODPOST) |^make" "$log" >&2
	exit 1
fi
echo "$out/kmod/chsteer.ko"
