# SPDX-License-Identifier: GPL-2.0-only
#
# chsteer: the module, its tool and their tests. "make help" lists the targets.

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
DESTDIR ?=
INSTALL ?= install

V ?= 0
export V
ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
s := -s
endif

kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR)

all: needs
	$(Q)$(MAKE) modules tool

# Nothing is installed here: all that is missing is said at once.
needs:
	@missing=; \
	command -v $(if $(LLVM),clang,$(or $(filter-out cc,$(CC)),gcc)) > /dev/null || \
		missing="$$missing $(if $(LLVM),clang,gcc)"; \
	[ -e /usr/include/stdio.h ] || missing="$$missing libc6-dev"; \
	command -v pkg-config > /dev/null || missing="$$missing pkg-config"; \
	pkg-config --exists libnl-genl-3.0 2> /dev/null || \
		missing="$$missing libnl-genl-3-dev"; \
	[ -e $(KDIR)/Makefile ] || missing="$$missing linux-headers-$$(uname -r)"; \
	[ -z "$$missing" ] || { \
		echo "Needed to build and not found; packages of Debian:$$missing" >&2; \
		[ -e $(KDIR)/Makefile ] || $(MAKE) -s $(KDIR)/Makefile; exit 1; }

$(KDIR)/Makefile:
	@echo "No kernel build tree at $(KDIR)." >&2
	@echo "Install the headers of the running kernel, or name a tree:" >&2
	@for dir in /lib/modules/*/build; do \
		[ ! -e $$dir/Makefile ] || echo "  make KDIR=$$dir" >&2; \
	done
	@false

# Why the module gets no type information (BTF); empty if it does. Without pahole kbuild
# fails after the last step and deletes the module.
no_btf = $(if $(shell grep -s '^CONFIG_DEBUG_INFO_BTF_MODULES=y' \
			$(KDIR)/include/config/auto.conf),$\
		$(if $(wildcard $(KDIR)/vmlinux),$\
			$(if $(shell command -v $(or $(PAHOLE),pahole)),,$\
				pahole is not installed (Debian: pahole)),$\
			there is no vmlinux in $(KDIR)),$\
		the kernel is built without CONFIG_DEBUG_INFO_BTF_MODULES)

# Kbuild leaves the module beside its objects.
modules: $(KDIR)/Makefile
	+$(Q)$(kbuild) $(if $(no_btf),CONFIG_DEBUG_INFO_BTF_MODULES=) modules
	$(Q)cp -p kmod/chsteer.ko chsteer.ko
	@$(if $(no_btf),echo 'chsteer.ko has no BTF: $(no_btf)',:)

tool:
	$(Q)$(MAKE) $(s) -C userspace

install: modules_install tool_install

# Not by kbuild, which would sign with a key that only the kernel's makers have.
modules_install: modules
	$(Q)release=$$($(MAKE) -s -C $(KDIR) kernelrelease) && \
	$(INSTALL) -D -m 0644 chsteer.ko \
		$(DESTDIR)/lib/modules/$$release/updates/chsteer.ko && \
	strip --strip-debug $(DESTDIR)/lib/modules/$$release/updates/chsteer.ko && \
	{ [ -n "$(DESTDIR)" ] || depmod -a $$release; }

tool_install: tool
	$(Q)$(MAKE) $(s) -C userspace PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install
	$(Q)$(INSTALL) -D -m 0644 kmod/uapi/linux/chsteer.h \
		$(DESTDIR)$(PREFIX)/include/linux/chsteer.h
	$(Q)$(INSTALL) -D -m 0644 kmod/chsteer.yaml \
		$(DESTDIR)$(PREFIX)/share/chsteer/chsteer.yaml

KERNEL ?= 6.12
KERNELS ?=

# Each command installs what it needs itself and no more.
install_for = $(Q)selftests/deps.sh
# The kernel "debug" takes a while to build, so it has to be asked for.
install_debug = $(if $(filter debug,$(KERNEL)),$(Q)selftests/vm/debug.sh)

deps:
	$(install_for) all
	$(if $(filter debug,$(KERNEL)),$(install_for) --kernel debug build)
	$(install_debug)

kernels = $(addprefix --kernel ,$(KERNELS))
# The groups unit and cli boot no kernel.
install_for_tests = $(install_for) \
	$(if $(and $(T),$(if $(filter-out unit cli,$(T)),,y)),unit,test $(kernels))

test:
	$(install_for_tests)
	$(Q)selftests/run.sh $(kernels) $(T)

test-long:
	$(install_for_tests)
	$(Q)selftests/run.sh $(kernels) --long $(T)

check:
	$(install_for) check
	$(Q)selftests/check.sh $(T)

FUZZ_SECONDS ?= 60

fuzz:
	$(install_for) fuzz
	$(Q)$(MAKE) -C selftests/unit fuzz FUZZ_SECONDS=$(FUZZ_SECONDS)

demo:
	$(install_for) demo --kernel $(KERNEL)
	$(install_debug)
	@echo 'demo: building'
	$(Q)$(MAKE) $(s) -C userspace > /dev/null
	@echo 'demo: booting Linux $(KERNEL) in an emulated machine: half a minute'
	$(Q)[ ! -t 1 ] || export CHS_TEST_COLOR=y; selftests/vm/run.sh \
		--kernel $(KERNEL) --timeout 1200 -- \
		$(CURDIR)/selftests/demo/demo.sh

bench:
	$(install_for) bench --kernel $(KERNEL)
	$(Q)$(MAKE) $(s) -C userspace
	$(Q)selftests/bench.sh $(T)

shell:
	$(install_for) shell --kernel $(KERNEL)
	$(install_debug)
	$(Q)$(MAKE) $(s) -C userspace
	$(Q)selftests/vm/run.sh --kernel $(KERNEL) --shell

ynl:
	$(install_for) ynl
	$(Q)selftests/ynl.sh

clean:
	$(Q)[ ! -e $(KDIR)/Makefile ] || $(kbuild) clean
	$(Q)$(RM) chsteer.ko
	$(Q)$(MAKE) $(s) -C userspace clean
	$(Q)for dir in unit cli; do \
		[ ! -e selftests/$$dir/Makefile ] || \
			$(MAKE) $(s) -C selftests/$$dir clean || exit; \
	done
	$(Q)$(RM) -r selftests/vm/out selftests/bench/out

help:
	@echo 'Build:'
	@echo '  all        the module for KDIR as chsteer.ko, and userspace/chctl (default)'
	@echo '  modules    the module only'
	@echo '  tool       the tool only; needs no kernel headers'
	@echo '  install    module, tool, manual page, completion, UAPI header, YNL file'
	@echo '  clean      remove what was built'
	@echo 'Try and test, as root on Debian 12 or 13; each installs first what is missing:'
	@echo '  demo       boot a VM and show the main job in it'
	@echo '  shell      a shell in a VM with the module loaded'
	@echo '  test       every test, what depends on the kernel on each; TAP'
	@echo '             (T="pattern..." for some)'
	@echo '  test-long  all on every kernel, in IPv4 and IPv6, with all rounds and flows;'
	@echo '             says first what that adds'
	@echo '  check      linters and static checkers     (T="check..." for some)'
	@echo '  fuzz       look for inputs that break ring or parser'
	@echo '  bench      all measurements                (T="--quick case..." for some)'
	@echo '  deps       install what all of these need'
	@echo '  ynl        generate code from kmod/chsteer.yaml'
	@echo 'Variables:'
	@echo '  KDIR       kernel build tree      [$(KDIR)]'
	@echo '  PREFIX     where the tool goes    [$(PREFIX)]'
	@echo '  DESTDIR    root of the installation, for packages'
	@echo '  KERNELS    kernels of test  [6.1 6.12 newest]'
	@echo '             6.1 6.12 newest (of Debian 13, in its backports) rt (the same with'
	@echo '             PREEMPT_RT) trixie (6.12 of Debian 13) debug (KASAN, lockdep, ...)'
	@echo '  KERNEL     kernel of demo and shell, one of these  [$(KERNEL)]'
	@echo '  FUZZ_SECONDS  time of fuzz, each target  [$(FUZZ_SECONDS)]'
	@echo '  V=1        show commands'

.PHONY: all needs modules tool install modules_install tool_install deps test test-long \
	check fuzz demo bench shell ynl clean help
