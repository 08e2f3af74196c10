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
	insmod "$CHS_KO" "$@" && chs_loaded_where
}

# Notes where the code of the module is, for leaks.py: it names what is left
# when the module is gone.
chs_loaded_where()
{
	local section address

	[[ ${CHS_LOADS:-} ]] || return 0
	# The caller may have set -f.
	find /sys/module/chsteer/sections -name '.*text*' | while read -r section; do
		read -r address < "$section" && echo "${section##*/} $address"
	done >> "$CHS_LOADS"
}

# Services do not keep the module then: there are some in the namespaces of most tests,
# and in those that are deleted but not yet gone. Otherwise unloading may be refused
# only while somebody uses the module, and by the time this is called nobody should.
chs_unload()
{
	echo N > /sys/module/chsteer/parameters/pin
	rmmod chsteer
}
