#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a command as root in a VM that boots a stock kernel on this machine's
# own files, read-only, under a throw-away overlay. Needs no KVM.
#
# The command passed only if the guest says so on a port of its own. A guest
# that is silent, panics, runs out of time, or whose kernel complained, failed.

# shellcheck disable=SC2054 # commas belong to the options of QEMU

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=../kernels.sh
. "$top/selftests/kernels.sh"
# shellcheck source=kmsg.sh
. "$here/kmsg.sh"

usage()
{
	cat << 'EOF'
usage: run.sh [OPTION]... [--] COMMAND [ARGUMENT]...
       run.sh [OPTION]... --shell

  --kernel K      series (6.1, 6.12), release, or debug; default 6.12
  --timeout S     seconds until the VM is given up; default 600
  --cpus N        default 1: an emulator does half the work again to keep two apart
  --mem M         default 2G
  --icount        one CPU on which a nanosecond is an instruction
  --append WORDS  more of the kernel's command line
  --plugin FILE[,ARGUMENT]...
                  a plugin of QEMU
  --no-module     do not build the module first
  --shell         an interactive shell with the module loaded

Exit status: the command's own; 1 if the kernel complained; 123 if the emulator
failed; 124 on timeout; 125 if the guest gave no verdict.
Logs: selftests/vm/out/<release>/.
EOF
}

die()
{
	echo "run.sh: $*" >&2
	exit 125
}

kernel=6.12 limit=600 cpus=1 mem=2G icount='' append='' plugin='' module=y shell=''
while (($#)); do
	case $1 in
	--kernel)	kernel=${2:?}; shift ;;
	--timeout)	limit=${2:?}; shift ;;
	--cpus)		cpus=${2:?}; shift ;;
	--mem)		mem=${2:?}; shift ;;
	--icount)	icount=y ;;
	--append)	append=${2:?}; shift ;;
	--plugin)	plugin=${2:?}; shift ;;
	--no-module)	module='' ;;
	--shell)	shell=y ;;
	-h|--help)	usage; exit 0 ;;
	--)		shift; break ;;
	-*)		usage >&2; exit 125 ;;
	*)		break ;;
	esac
	shift
done
[[ $shell ]] || (($#)) || { usage >&2; exit 125; }

if ! chs_kernel_find "$kernel" || [[ -z $KIMAGE ]]; then
	die "no kernel $kernel to boot; try make deps"
fi

# Factor for the time limits in the guest, at least; and whether tests do less there.
slow=1 few=
if [[ $KVER == *-debug ]]; then
	slow=$CHS_DEBUG_SLOW few=y
fi

ko=
if [[ $module ]]; then
	ko=$("$here/build.sh" "$kernel") || die "the module was not built"
fi

# A directory of its own for each VM, the first that no other VM holds.
for ((slot = 0; ; slot++)); do
	dir=$here/out/$KVER/vm$slot
	mkdir -p "$dir"
	exec 8> "$dir/lock"
	if flock -n 8; then
		break
	fi
done
rm -rf "$dir/root" "$dir/verdict" "$dir/console.log" "$dir/output.log"

# hot_copy DIR: the files that are listed on stdin, at the same paths below DIR.
hot_copy()
{
	mkdir -p "$1"
	(cd / && sed 's#^/##' | cpio -pdm --quiet "$1") 2> /dev/null || :
}

# Base of the initramfs: one a kernel, made again when its parts change.
base_make()
{
	local base=$here/out/$KVER/base.cpio tree=$dir/root word file name

	exec 7> "$base.lock"
	flock 7
	if [[ $base -nt $KIMAGE && $base -nt $here/init.sh &&
	      $base -nt $here/run.sh && $base -nt $here/hot.py &&
	      $base -nt /var/lib/dpkg/status ]]; then
		flock -u 7
		return
	fi
	mkdir -p "$tree/bin" "$tree/modules"
	: > "$tree/modules/order"
	cp /bin/busybox "$tree/bin/"
	cp "$here/init.sh" "$tree/init"
	chmod +x "$tree/init"
	for name in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
		modprobe -d "${KMODULES%/lib/modules/*}/" -S "$KVER" \
			--show-depends "$name"
	done | while read -r word file _; do
		[[ $word == insmod ]] || continue
		name=${file##*/}
		name=${name%.ko*}.ko
		grep -qsx "$name" "$tree/modules/order" && continue
		case $file in
		*.xz)	xz -dc "$file" ;;
		*.zst)	zstd -qdc "$file" ;;
		*)	cat "$file" ;;
		esac > "$tree/modules/$name"
		echo "$name" >> "$tree/modules/order"
	done
	{
		"$here/hot.py"
		printf '%s\n' "$KMODULES"/modules.*.bin
	} | hot_copy "$tree/hot"
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) > "$base.new"
	mv "$base.new" "$base"
	rm -rf "$tree"
	flock -u 7
}

# What this VM is to do, as a second archive behind the base.
job_make()
{
	local tree=$dir/root name

	mkdir -p "$tree/job"
	{
		printf '%s=%q\n' CHS_VM_TREE "$top" CHS_VM_KVER "$KVER" \
			CHS_VM_MODULES "$KMODULES" CHS_VM_NONCE "$nonce" \
			CHS_VM_SHELL "$shell" CHS_VM_TERM "${TERM:-dumb}" \
			CHS_VM_STTY "$(stty_size)" CHS_VM_SLOW "$slow"
	} > "$tree/job/env"
	{
		printf 'cd -- %q\n' "$PWD"
		printf 'export %s=%q\n' CHS_KO "$ko" CHS_VM "$kernel" CHS_FEW "$few"
		for name in CHS_EXPECT_ALL V "${!CHS_TEST_@}"; do
			[[ ${!name:-} ]] && printf 'export %s=%q\n' "$name" "${!name}"
		done
		if [[ $shell && $ko ]]; then
			printf '. %q\nchs_load\n' "$top/selftests/module.sh"
		fi
		if [[ $shell ]] && ! (($#)); then
			echo 'exec bash -i'
		else
			printf 'exec'
			printf ' %q' "$@"
			echo
		fi
	} > "$tree/job/command"
	{
		find "$top/selftests" -maxdepth 2 -name '*.sh' -o -name '*.py'
		printf '%s\n' "$top/userspace/chctl" ${ko:+"$ko"}
	} | hot_copy "$tree/hot"
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) > "$dir/job.cpio"
	cat "$here/out/$KVER/base.cpio" "$dir/job.cpio" > "$dir/initrd"
	rm -rf "$tree" "$dir/job.cpio"
}

stty_size()
{
	local rows cols

	if [[ -t 0 ]] && read -r rows cols < <(stty size); then
		echo "rows $rows cols $cols"
	fi
}

nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
base_make
job_make "$@"

# Without randomised addresses the emulator meets the same code at the same place
# in each process and need not translate it anew: half the time of the suite.
cmdline="console=ttyS0 panic=-1 oops=panic softlockup_panic=1 watchdog_thresh=30"
cmdline+=" sysctl.kernel.hung_task_panic=1 sysctl.kernel.panic_on_rcu_stall=1"
cmdline+=" rcupdate.rcu_cpu_stall_timeout=90 mitigations=off loglevel=${CHS_VM_LOGLEVEL:-4}"
cmdline+=" random.trust_cpu=on net.ifnames=0 tsc=reliable"
cmdline+=" nokaslr norandmaps"
# On a busy host the emulated timer is late, which the check takes for broken.
cmdline+=" no_timer_check"

if [[ $KVER == *-debug ]]; then
	# Each report of KASAN, not only the first.
	cmdline+=" kasan_multi_shot"
	gcc -O2 -o "$dir/tsc" "$here/tsc.c" || die "tsc.c does not build"
	cmdline+=" tsc_early_khz=$("$dir/tsc")"
fi

cpu=max,la57=off
qemu=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
	-machine q35 -m "$mem" -nic none
	-kernel "$KIMAGE" -initrd "$dir/initrd"
	-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
	-device "virtio-9p-pci,fsdev=root,mount_tag=root")
if [[ $icount ]]; then
	# Instructions are counted on one CPU only.
	qemu+=(-accel tcg,thread=single -smp 1 -icount shift=0,sleep=off)
	cmdline+=" nowatchdog"
else
	# Without ACPI a kernel finds the first CPU of each socket. A CPU with ERMS
	# is told to move bytes, which the emulator does one by one; without, words.
	# And pages that somebody fills need not be cleared first.
	qemu+=(-accel tcg,thread=multi -smp "$cpus,sockets=$cpus")
	cpu+=,erms=off,fsrm=off
	cmdline+=" init_on_alloc=0"
fi
qemu+=(-cpu "$cpu" -append "$cmdline${append:+ $append}" ${plugin:+-plugin "$plugin"})

if [[ $shell ]]; then
	"${qemu[@]}" -chardev stdio,id=console,signal=off -serial chardev:console \
		-chardev file,id=verdict,path="$dir/verdict" -serial chardev:verdict
	exit 0
fi

qemu+=(-chardev file,id=console,path="$dir/console.log" -serial chardev:console
	-chardev file,id=verdict,path="$dir/verdict" -serial chardev:verdict
	-device virtio-serial-pci
	-chardev file,id=output,path=/dev/fd/1
	-device virtserialport,chardev=output,name=output)

# Runs until the guest is gone. What was started is ended with this script.
machine=
trap '[[ $machine ]] && kill "$machine" 2> /dev/null; exit 130' INT TERM HUP

# The emulator's CPUs do not always see in time what a kernel changes in its own
# code, which it does most while it boots: it dies of "int3" now and then. Nothing
# of ours has run by then, so it may try again.
for attempt in 1 2 3; do
	: > "$dir/console.log"
	exec 6> >(exec tee "$dir/output.log")
	copier=$!
	timeout -k 10 "$limit" "${qemu[@]}" < /dev/null >&6 7>&- 8>&- &
	machine=$!
	exec 6>&-
	ended=0
	wait "$machine" || ended=$?
	machine=
	wait "$copier" || :
	if ((ended)) || grep -aq 'chs-vm: begin' "$dir/console.log"; then
		break
	fi
	((attempt == 3)) || echo "# $KVER: died while it booted; once more:" \
		"$(grep -aim 1 'panic' "$dir/console.log" | tr -d '\r')"
done

complaints()
{
	sed '0,/chs-vm: begin/d' "$dir/console.log" | kmsg_unknown |
		grep -aE "$KMSG_BAD"
}

verdict=
if [[ -s $dir/verdict ]]; then
	read -r word verdict < <(tr -d '\r' < "$dir/verdict") || :
	[[ $word == "$nonce" && $verdict =~ ^[0-9]+$ ]] || verdict=
fi

if [[ $verdict == 0 ]] && complaints > /dev/null; then
	echo "# $KVER: the kernel complained on its console:"
	complaints | sed 's/^/# /'
	exit 1
fi
if [[ $verdict ]]; then
	exit "$verdict"
fi
echo "# $KVER: no verdict from the guest; the end of its console:"
tail -n 60 "$dir/console.log" | tr -d '\r' | sed 's/^/# /'
if ((ended == 124 || ended == 137)); then
	echo "# $KVER: given up after $limit s"
	exit 124
fi
if flags=$(kmsg_no_cpu "$dir/console.log"); then
	echo "# $KVER: no CPU has flags $flags: the emulator failed"
	exit "$CHS_VM_NO_CPU"
fi
exit 125
