// SPDX-License-Identifier: GPL-2.0-only
/*
 * push [-m] TAP MAC SOURCE DESTINATION PACKETS FLOWS SIZE SEGMENT: TCP packets, as
 * large as receive offload makes them, into the receive path of a tap device; each
 * of so many bytes in segments of so many, and of the next flow. Prints nanoseconds.
 *
 * With -m the plugin is told what to count.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

#define PORT		80
#define PORT_FIRST	1024

struct frame {
	struct virtio_net_hdr offload;
	struct ethhdr link;
	union {
		struct iphdr v4;
		struct ip6_hdr v6;
	} ip;
	struct tcphdr tcp;
	size_t ip_size;
};

static int tap_open(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR);

	if (fd < 0)
		return -1;
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	return ioctl(fd, TUNSETIFF, &ifr) ? -1 : fd;
}

static uint32_t sum_add(uint32_t sum, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < size; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	return sum;
}

static uint16_t sum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return htons(sum + (sum >> 16));
}

static bool frame_make(struct frame *f, const char *mac, const char *source,
		       const char *destination, size_t size, size_t segment)
{
	size_t bytes = sizeof(f->tcp) + size;
	uint32_t sum = IPPROTO_TCP + bytes;
	uint8_t *to = f->link.h_dest;
	bool v6 = strchr(source, ':');

	memset(f, 0, sizeof(*f));
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx",
		   to, to + 1, to + 2, to + 3, to + 4, to + 5) != ETH_ALEN)
		return false;
	f->link.h_source[0] = 2;
	f->link.h_proto = htons(v6 ? ETH_P_IPV6 : ETH_P_IP);
	if (v6) {
		struct ip6_hdr *ip = &f->ip.v6;

		f->ip_size = sizeof(*ip);
		ip->ip6_flow = htonl(6 << 28);
		ip->ip6_plen = htons(bytes);
		ip->ip6_nxt = IPPROTO_TCP;
		ip->ip6_hlim = 32;
		if (inet_pton(AF_INET6, source, &ip->ip6_src) != 1 ||
		    inet_pton(AF_INET6, destination, &ip->ip6_dst) != 1)
			return false;
		sum = sum_add(sum, &ip->ip6_src, 32);
	} else {
		struct iphdr *ip = &f->ip.v4;

		f->ip_size = sizeof(*ip);
		ip->version = 4;
		ip->ihl = 5;
		ip->tot_len = htons(sizeof(*ip) + bytes);
		ip->frag_off = htons(IP_DF);
		ip->ttl = 32;
		ip->protocol = IPPROTO_TCP;
		if (inet_pton(AF_INET, source, &ip->saddr) != 1 ||
		    inet_pton(AF_INET, destination, &ip->daddr) != 1)
			return false;
		sum = sum_add(sum, &ip->saddr, 8);
		ip->check = ~sum_fold(sum_add(0, ip, sizeof(*ip)));
	}
	f->tcp.dest = htons(PORT);
	f->tcp.seq = htonl(1);
	f->tcp.ack_seq = htonl(1);
	f->tcp.doff = sizeof(f->tcp) / 4;
	f->tcp.ack = 1;
	f->tcp.window = htons(1024);
	/* Of addresses and length only, as the rest is left to who sends it. */
	f->tcp.check = sum_fold(sum);

	f->offload.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->offload.gso_type = v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	f->offload.gso_size = segment;
	f->offload.csum_start = ETH_HLEN + f->ip_size;
	f->offload.csum_offset = offsetof(struct tcphdr, check);
	f->offload.hdr_len = f->offload.csum_start + sizeof(f->tcp);
	return true;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long packets, flows;
	bool marks = false;
	struct frame frame;
	uint64_t begin;
	size_t size;
	char *data;
	int fd;

	if (argc == 10 && !strcmp(argv[1], "-m")) {
		marks = true;
		argv++;
		argc--;
	}
	if (argc != 9) {
		fprintf(stderr, "usage: push [-m] TAP MAC SOURCE DESTINATION PACKETS FLOWS"
			" SIZE SEGMENT\n");
		return 1;
	}
	packets = strtoul(argv[5], NULL, 10);
	flows = strtoul(argv[6], NULL, 10);
	size = strtoul(argv[7], NULL, 10);
	data = calloc(1, size);
	if (!data || !flows ||
	    !frame_make(&frame, argv[2], argv[3], argv[4], size, strtoul(argv[8], NULL, 10))) {
		fprintf(stderr, "push: what packets?\n");
		return 1;
	}

	struct iovec parts[] = {
		{ &frame.offload, sizeof(frame.offload) },
		{ &frame.link, sizeof(frame.link) },
		{ &frame.ip, frame.ip_size },
		{ &frame.tcp, sizeof(frame.tcp) },
		{ data, size },
	};

	fd = tap_open(argv[1]);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	/* The device has a carrier from now on; let all who are told be done with it. */
	usleep(500000);

	begin = now();
	if (marks)
		mark_begin();
	for (unsigned long i = 0; i < packets; i++) {
		frame.tcp.source = htons(PORT_FIRST + i % flows);
		if (writev(fd, parts, 5) < 0) {
			perror("writev");
			return 1;
		}
	}
	if (marks)
		mark_end();
	printf("%llu\n", (unsigned long long)(now() - begin));
	return 0;
}
