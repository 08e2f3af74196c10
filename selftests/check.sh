#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything that finds faults without running the code. Says which check found
# what; fails if any did.
#
# usage: check.sh [--tap] [CHECK...]	with --tap as results of a test

set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"
cd "$top" || exit 1

# sources PATTERN...: files of the tree, committed or about to be.
sources()
{
	if git rev-parse --git-dir > /dev/null 2>&1; then
		git ls-files -co --exclude-standard -- "$@"
	else
		find . -type f -not -path './selftests/vm/out/*' |
			sed 's#^\./##' | grep -E "$(sources_regex "$@")"
	fi | sort -u | while IFS= read -r file; do
		[[ -f $file ]] && printf '%s\n' "$file"
	done
}

# The same patterns for a tree that came without its history.
sources_regex()
{
	local pattern regex=

	for pattern in "$@"; do
		pattern=${pattern//./\\.}
		regex+="|^${pattern//\*/.*}$"
	done
	echo "${regex#|}"
}

kernel_sources()
{
	sources 'kmod/*.c' 'kmod/*.h' | grep -vE '_gen\.[ch]$|^kmod/uapi/'
}

# The module ------------------------------------------------------------------

check_sparse()
{
	local kernel status=0

	for kernel in $(chs_kernels_here); do
		# There is no sparse in another root.
		chs_kernel_find "$kernel"
		[[ ! $KROOT ]] || continue
		selftests/vm/build.sh "$kernel" C=2 > /dev/null || status=1
	done
	return $status
}

# With the headers of a kernel that was built by gcc.
check_clang_module()
{
	local copy status=0

	if ! chs_kernel_find 6.12 || [[ ! $KBUILD || $KROOT ]]; then
		echo "# kernel 6.12 has no headers on this system" >&2
		return
	fi
	copy=$(mktemp -d)
	sources Kbuild 'kmod/*' | cpio -pdm --quiet "$copy"
	make -s -C "$KBUILD" M="$copy" LLVM=1 W=1 KCFLAGS=-Werror -j"$(nproc)" modules \
		> "$copy/log" 2>&1 || status=1
	grep -q 'warning:' "$copy/log" && status=1
	((status)) && cat "$copy/log"
	rm -rf "$copy"
	return $status
}

check_kerneldoc()
{
	local out files

	mapfile -t files < <(kernel_sources)
	out=$("$ksrc/scripts/kernel-doc" -none -Wall "${files[@]}" 2>&1)
	[[ -z $out ]] || { echo "$out"; return 1; }
}

# Not asked for: what concerns patches to the kernel's own tree, and version
# tests in the one place that exists for them, macros that userspace lacks, and
# what is asked of a macro that is an expression: those of hook.c initialise.
check_checkpatch()
{
	local files ignore=FILE_PATH_CHANGES,LINUX_VERSION_CODE,EMBEDDED_FILENAME,BIT_MACRO

	ignore+=,CONSTANT_COMPARISON,COMPLEX_MACRO,MACRO_ARG_REUSE

	mapfile -t files < <(kernel_sources)
	"$ksrc/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
		--no-summary --max-line-length=100 --ignore "$ignore" \
		-f "${files[@]}"
}

check_ynl()
{
	selftests/ynl.sh --check
}

# The tool --------------------------------------------------------------------

# Built in a copy, for the flags differ.
tool_build()
{
	local copy status=0

	copy=$(mktemp -d)
	sources userspace 'userspace/*' 'kmod/*' | cpio -pdm --quiet "$copy"
	make -s -C "$copy/userspace" "$@" > "$copy/log" 2>&1 || status=1
	grep -q 'warning:' "$copy/log" && status=1
	((status)) && cat "$copy/log"
	rm -rf "$copy"
	return $status
}

check_analyzer()
{
	tool_build CC=gcc CFLAGS='-O2 -g -Wall -Wextra -fanalyzer -fdiagnostics-path-format=none -Werror' chctl
}

check_clang()
{
	tool_build CC=clang CFLAGS='-O2 -g -Wall -Wextra -Werror' chctl
}

check_cppcheck()
{
	local files

	mapfile -t files < <(sources 'userspace/*.c')
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
		--enable=warning,portability,performance \
		--suppress=missingIncludeSystem -I userspace -I userspace/shim \
		-I kmod -I kmod/uapi "${files[@]}"
}

check_man()
{
	local files

	mapfile -t files < <(sources '*.8')
	((${#files[@]})) || { echo "there is no manual page"; return 1; }
	mandoc -T lint -W warning "${files[@]}"
}

# Everything else -------------------------------------------------------------

# Cases are functions that chs_run calls by name, which shellcheck cannot see.
check_shell()
{
	local files

	mapfile -t files < <(sources '*' | xargs -d '\n' awk '
		FNR == 1 && (FILENAME ~ /\.sh$/ || /^#!.*[\/ ](ba)?sh( |$)/) { print FILENAME }
		FNR == 1 { nextfile }')
	shellcheck -x -P SCRIPTDIR -f gcc -e SC2317,SC2119 "${files[@]}"
}

check_python()
{
	sources '*.py' | xargs -d '\n' python3 -W error -c 'import sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as f:
        compile(f.read(), name, "exec")'
}

# kernels_named: each kernel and what tests it, by the lists of the tests.
kernels_named()
{
	local kernel

	for kernel in "${CHS_KERNELS[@]}" "$CHS_KERNEL_DEBUG" "${CHS_KERNELS_13[@]}"; do
		if [[ " ${CHS_KERNELS[*]} " == *" $kernel "* ]]; then
			echo "$kernel make test"
		elif grep -q "\"\${CHS_KERNELS\[@\]}\" $kernel)" .ci/run; then
			echo "$kernel .ci/run"
		else
			echo "$kernel KERNELS=$kernel"
		fi
	done | sort -u
	echo "newest is $CHS_NEWEST_TESTED"
}

# README.md says which kernels are tested, and by which command.
# shellcheck disable=SC2016 # backquotes of the table
check_kernels()
{
	local table

	table=$(sed -n '/^## Supported kernels/,/^## Try/p' README.md | grep '^| `[^`]*` | [^K]')
	diff <(kernels_named) <(
		sed -E 's/^\| `([^`]*)` .*\| `([^`]*)` \|$/\1 \2/' <<< "$table" | sort -u
		sed -nE 's/^\| `newest` .*[ ,]([0-9]+\.[0-9]+)\.[0-9]+ .*/newest is \1/p' <<< "$table"
	)
}

# The licence in each file that is not data, and no blanks at ends of lines.
check_text()
{
	local files status=0

	mapfile -t files < <(sources '*' |
		grep -vE '^COPYING$|\.svg$|^selftests/[^/]*/(golden|vectors|corpus)/')
	printf '%s\n' "${files[@]}" |
		grep -vE '^README\.md$|(^|/)\.(clang-format|gitignore)$' |
		xargs -d '\n' grep -L 'SPDX-License-Identifier:' |
		sed 's/$/: no SPDX line/' | grep . && status=1
	grep -nE '[[:blank:]]+$' "${files[@]}" && status=1
	return $status
}

# outcome CHECK SECONDS STATUS
outcome()
{
	if [[ $tap ]]; then
		echo "$( (($3)) && echo not\ )ok - $1 # time=$2s"
	elif (($3)); then
		echo "check: $1: FAULTS ($2 s)"
	else
		echo "check: $1: clean ($2 s)"
	fi
}

tap=
[[ ${1:-} != --tap ]] || { tap=y; shift; }
checks=(text kernels shell python ynl kerneldoc checkpatch man cppcheck clang analyzer
	sparse clang_module)
(($#)) && checks=("$@")
ksrc=$(selftests/ksrc.sh) || exit 1

failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for check in "${checks[@]}"; do
	began=$SECONDS status=0
	"check_$check" > "$log" 2>&1 || status=1
	((status == 0)) || sed "200q${tap:+;s/^/# /}" "$log"
	failed=$((failed + status))
	outcome "$check" $((SECONDS - began)) $status
done
((failed == 0))
