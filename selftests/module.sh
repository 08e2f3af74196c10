# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Loading and unloading of the module under test. Sourced.

chs_loaded()
{
	[[ -d /sys/module/chsteer ]]
}

# chs_load [PARAMETER=VALUE...]: loads the module built for the running kernel
# ($CHS_KO, set by the VM runner), with what it depends on.
chs_load()
{
	local dep

	if [[ -z ${CHS_KO:-} ]]; then
		modprobe chsteer "$@"
		return
	fi
	while read -r dep; do
		[[ $dep ]] && { modprobe "$dep" || return; }
	done < <(modinfo -F depends "$CHS_KO" | tr , '\n'
		modinfo -F softdep "$CHS_KO" |
			tr ' ' '\n' | grep -v ':$')
	insmod "$CHS_KO" "$@"
}

# Unloading may be refused only while somebody uses the module, and by the time
# this is called nobody should.
chs_unload()
{
	rmmod chsteer
}
