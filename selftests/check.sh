#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything that finds faults without running the code. Says which check found
# what; fails if any did.
#
# usage: check.sh [CHECK...]

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

	for kernel in "${CHS_KERNELS[@]}"; do
		selftests/vm/build.sh "$kernel" C=2 > /dev/null || status=1
	done
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
# tests in the one place that exists for them, and macros that userspace lacks.
check_checkpatch()
{
	local files ignore=FILE_PATH_CHANGES,LINUX_VERSION_CODE,EMBEDDED_FILENAME,BIT_MACRO

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
	tool_build CC=gcc CFLAGS='-O2 -g -Wall -Wextra -fanalyzer -Werror' chctl
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

check_shell()
{
	local file files=()

	while IFS= read -r file; do
		if [[ $file == *.sh ]] ||
		   head -n 1 "$file" | grep -qE '^#!.*\b(bash|sh)\b'; then
			files+=("$file")
		fi
	done < <(sources '*')
	shellcheck -x -P SCRIPTDIR "${files[@]}"
}

check_python()
{
	local file status=0

	while IFS= read -r file; do
		python3 -W error -c 'import sys
compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec")' "$file" || status=1
	done < <(sources '*.py')
	return $status
}

check_text()
{
	local file status=0

	while IFS= read -r file; do
		case $file in
		COPYING|*.svg|selftests/*/vectors/*|*.golden) continue ;;
		README.md|.clang-format) ;;
		*)	if ! head -n 5 "$file" | grep -q 'SPDX-License-Identifier:'; then
				echo "$file: no SPDX line"
				status=1
			fi ;;
		esac
		if grep -nE '[[:blank:]]+$' "$file" /dev/null; then
			status=1
		fi
	done < <(sources '*')
	return $status
}

checks=(text shell python ynl kerneldoc checkpatch man cppcheck clang analyzer sparse)
(($#)) && checks=("$@")
ksrc=$(selftests/ksrc.sh) || exit 1

failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for check in "${checks[@]}"; do
	began=$SECONDS
	if "check_$check" > "$log" 2>&1; then
		echo "check: $check: clean ($((SECONDS - began)) s)"
	else
		cat "$log"
		echo "check: $check: FAULTS ($((SECONDS - began)) s)"
		failed=$((failed + 1))
	fi
done
((failed == 0))
