# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # a case's fields are set by who sources it
#
# Who is measured, and how each is set up. Sourced, in a namespace that has a
# device "in", where packets come from, and "out", where they go; both swallow
# what is sent. What a namespace holds goes with it.

# Addresses of family 4 or 6 ----------------------------------------------------
#
# In REPLY: a process for each of 10,000 services takes minutes in an emulator.

# Backend N, from 0.
backend()
{
	if [[ $family == 4 ]]; then
		REPLY=10.2.$(($1 / 200 + 1)).$(($1 % 200 + 1))
	else
		printf -v REPLY 'fd02::1:%x' $(($1 + 1))
	fi
}

# Address of service N, from 0, which is the one that packets are for. They are
# spread over 100 addresses.
vip()
{
	if [[ $family == 4 ]]; then
		REPLY=203.0.113.$(($1 % 100 + 1))
	else
		printf -v REPLY 'fd00:80::%x' $(($1 % 100 + 1))
	fi
}

# endpoint ADDRESS PORT
endpoint()
{
	if [[ $family == 4 ]]; then
		REPLY=$1:$2
	else
		REPLY=[$1]:$2
	fi
}

# service N and backend_of N SERVICE, as endpoints
service()
{
	vip "$1"
	endpoint "$REPLY" $((80 + $1 / 100))
}

backend_of()
{
	backend "$1"
	endpoint "$REPLY" $((80 + $2 / 100))
}

client()
{
	if [[ $family == 4 ]]; then
		REPLY=10.1.0.$(($1 + 2))
	else
		printf -v REPLY 'fd01::%x' $(($1 + 2))
	fi
}

# What is nobody's service, beyond the first backend.
foreign()
{
	if [[ $family == 4 ]]; then
		REPLY=198.51.100.1
	else
		REPLY=fd03::1
	fi
}

# The namespace -------------------------------------------------------------------

# Neighbours are permanent: nothing is resolved while it is measured.
network()
{
	local n mac

	ip link set lo up
	if [[ $flows == gro ]]; then
		ip tuntap add in mode tap
	else
		ip link add in type dummy
	fi
	ip link add out type dummy
	sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.in.rp_filter=0 \
		net.ipv6.conf.in.accept_dad=0 net.ipv6.conf.out.accept_dad=0
	ip link set in address 02:00:00:00:00:01 up
	ip link set out address 02:00:00:00:00:02 up
	{
		echo "address add 10.1.0.1/24 dev in"
		echo "address add 10.2.0.1/16 dev out"
		echo "address add fd01::1/64 dev in nodad"
		echo "address add fd02::1/64 dev out nodad"
		# Not as a route of type local: with one of those each packet's source
		# is looked up again.
		echo "address add 203.0.113.1/24 dev lo"
		for ((n = 0; n < (services < 100 ? services : 100); n++)); do
			printf 'address add fd00:80::%x/128 dev lo nodad\n' $((n + 1))
		done
		backend 0
		if [[ $family == 4 ]]; then
			echo "route add 198.51.100.0/24 via $REPLY"
		else
			echo "route add fd03::/64 via $REPLY"
		fi
		for ((n = 0; n < backends; n++)); do
			printf -v mac '02:00:00:01:%02x:%02x' $((n >> 8)) $((n & 255))
			backend "$n"
			echo "neigh add $REPLY lladdr $mac dev out nud permanent"
		done
	} > "$work/ip"
	ip -batch "$work/ip"
}

# Contenders ----------------------------------------------------------------------

setup_none() { :; }

setup_forward() { :; }

# The clock of a VM that waits for its host goes on to whatever is due next: minutes
# may pass between two rounds, in which what was remembered must not be forgotten.
AGE=86400

remember()
{
	sysctl -qw net.netfilter.nf_conntrack_udp_timeout=$AGE \
		net.netfilter.nf_conntrack_udp_timeout_stream=$AGE \
		net.netfilter.nf_flowtable_udp_timeout=$AGE
	ipvsadm --set 0 0 $AGE
}

# A rule that nothing comes to switches conntrack on all the same.
setup_forward_ct()
{
	nft -f - <<- 'END'
		table inet bench {
			chain unused {
				ct state new accept
			}
		}
	END
}

# ipvs METHOD: -g, -i or -m
ipvs()
{
	local n service

	for ((n = services - 1; n >= 0; n--)); do
		service "$n"
		service=$REPLY
		echo "-A -u $service -s mh -b mh-port"
		backend_of 0 "$n"
		echo "-a -u $service -r $REPLY $1 -w 1"
	done > "$work/ipvs"
	for ((n = 1; n < backends; n++)); do
		backend_of "$n" 0
		echo "-a -u $service -r $REPLY $1 -w 1"
	done >> "$work/ipvs"
	ipvsadm -R < "$work/ipvs"
}

setup_ipvs_dr() { ipvs -g; }
setup_ipvs_tun() { ipvs -i; }
setup_ipvs_nat() { ipvs -m; }

setup_nft()
{
	local n ip=ip

	[[ $family == 4 ]] || ip=ip6
	vip 0
	{
		echo "table $ip bench {"
		echo "chain pre {"
		echo "type nat hook prerouting priority dstnat;"
		echo "$ip daddr $REPLY udp dport 80 dnat to" \
			"jhash $ip saddr . udp sport mod $backends map {"
		for ((n = 0; n < backends; n++)); do
			backend "$n"
			echo "$n : $REPLY,"
		done
		printf '}\n}\n}\n'
	} > "$work/nft"
	nft -f "$work/nft"
}

# Connections that conntrack knows go from one device to the other past everything else.
flowtable()
{
	nft -f - <<- 'END'
		table inet shortcut {
			flowtable ft {
				hook ingress priority filter
				devices = { in, out }
			}
			chain forward {
				type filter hook forward priority filter
				meta l4proto udp flow add @ft
			}
		}
	END
}

setup_nft_flowtable() { setup_nft && flowtable; }

# chsteer MODE: what makes no difference to a packet is small in services that no
# packet is for.
chsteer()
{
	local n proto=udp options=

	[[ $flows != gro ]] || proto=tcp
	[[ $affinity == - ]] || options=" affinity $affinity"
	[[ $affinity != flow ]] || options+=" timeout $AGE"
	for ((n = services - 1; n > 0; n--)); do
		service "$n"
		echo "service add s$n $proto $REPLY mode $1 points 8 slots 256 balance off$options"
		backend_of 0 "$n"
		echo "backend add s$n $REPLY"
	done > "$work/chsteer"
	service 0
	echo "service add s0 $proto $REPLY mode $1$options" >> "$work/chsteer"
	for ((n = 0; n < backends; n++)); do
		backend_of "$n" 0
		echo "backend add s0 $REPLY"
	done >> "$work/chsteer"
	chctl apply "$work/chsteer"
}

setup_nat() { chsteer nat; }
setup_nat_flowtable() { chsteer nat && flowtable; }
setup_route() { chsteer route; }
setup_ipip() { chsteer ipip; }
setup_gue() { chsteer gue; }
