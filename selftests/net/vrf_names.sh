#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
#
# Services follow the names of VRF devices, whatever becomes of the devices: random
# histories by the root of a user namespace, against a model (vrf_names.py).

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

history()
{
	chs_cmd_ok setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
		"$CHS_LIB/net/vrf_names.py" "$(chs_amount 40)"
}

# Names that nothing knows, and some that are no VRF's: taken, with a warning.
absent()
{
	local warning="is no VRF device: nothing matches until it is"

	chs_setup_ns lb || return
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" service add s udp "$CHS_VIP4:53" mode route vrf lo
	chs_expect "warning" "$CHS_ERR" "Warning: service 's': vrf 'lo' $warning"
	cat > "$CHS_TMP/file" <<- EOT
		service add s udp $CHS_VIP4:53 mode route vrf red
		backend add s $(chs_b4 1)
		service add t udp $CHS_VIP4:53 mode route
		backend add t $(chs_b4 1)
	EOT
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" apply --replace "$CHS_TMP/file"
	[[ $CHS_ERR == *"file:1: service 's': vrf 'red' $warning"* ]] ||
		chs_fail "no warning"
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" service show s
	[[ $CHS_OUT == *" vrf red (absent) "* ]] || chs_fail "not shown as absent"
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" -j backend show s
	chs_expect "why" "$(chs_json '.[0].why')" "no route"
	chs_ip lb link add red type vrf table 10
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" service show s
	[[ $CHS_OUT == *" vrf red "* && $CHS_OUT != *absent* ]] || chs_fail "still absent"
	# An alternative name is not the name.
	chs_ip lb link property add dev red altname crimson
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" service add u udp "$CHS_VIP4:54" mode route vrf crimson
	[[ $CHS_ERR == *"vrf 'crimson' $warning"* ]] || chs_fail "no warning"
	chs_cmd_ok chctl -n "${CHS_NS[lb]}" apply --replace "$CHS_TMP/file"
	chs_expect "warnings of what stays" "$CHS_ERR" ""
}

chs_require_cmd jq python3
chs_require_module vrf veth
chs_setup
chs_run "a name that no VRF device has" absent
chs_run "random histories" history
chs_done
