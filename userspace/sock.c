// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink socket: blocking, closed by the end of the process.
 */
#include "sock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "err.h"

#define NETNS_DIR	"/run/netns/"

/*
 * One message holds all backends of a command, 4,096 at most of 50 bytes, and
 * answers of a burst of requests wait for being read. The kernel grants this
 * to CAP_NET_ADMIN and less to others, who only read, an answer at a time.
 */
#define SOCK_BUFFER	(4 << 20)

static int sock = -1;

/**
 * ctl_sock_netns() - enter a network namespace
 * @name: its name as in ip-netns(8)
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_sock_netns(const char *name)
{
	char path[256];
	int fd, ret;

	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return ctl_usage("netns '%s': not the name of a network namespace", name);
	if (strlen(name) >= sizeof(path) - sizeof(NETNS_DIR))
		return ctl_usage("netns '%s': name too long", name);

	snprintf(path, sizeof(path), "%s%s", NETNS_DIR, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ctl_fail(errno, "netns %s: %s", name, errno == ENOENT ?
				"no such network namespace" : "cannot open it");

	ret = setns(fd, CLONE_NEWNET);
	if (ret)
		ret = ctl_fail(errno, "netns %s: %s", name, errno == EPERM ?
			       "CAP_SYS_ADMIN is needed to enter it" : "cannot enter it");
	close(fd);
	return ret;
}

static void set_buffer(int forced, int plain)
{
	const int size = SOCK_BUFFER;

	if (setsockopt(sock, SOL_SOCKET, forced, &size, sizeof(size)))
		setsockopt(sock, SOL_SOCKET, plain, &size, sizeof(size));
}

/**
 * ctl_sock_open() - open the socket
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_sock_open(void)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const int one = 1;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		return ctl_fail(errno, "cannot open a netlink socket");

	setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	/* A request with what the kernel does not know is refused whole. */
	setsockopt(sock, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	set_buffer(SO_RCVBUFFORCE, SO_RCVBUF);
	set_buffer(SO_SNDBUFFORCE, SO_SNDBUF);

	/* Connected, it hears the kernel and nobody else. */
	if (connect(sock, (const struct sockaddr *)&kernel, sizeof(kernel)))
		return ctl_fail(errno, "cannot connect the netlink socket");

	return CTL_OK;
}

/**
 * ctl_sock_send() - send messages
 * @buf: one or more
 * @len: length of all
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_sock_send(const void *buf, size_t len)
{
	ssize_t sent;

	do {
		sent = send(sock, buf, len, 0);
	} while (sent < 0 && errno == EINTR);

	if (sent < 0 && errno == EMSGSIZE)
		return ctl_fail(errno, "the request of %zu bytes exceeds the socket's buffer",
				len);
	if (sent != (ssize_t)len)
		return ctl_fail(sent < 0 ? errno : EIO, "cannot send to the kernel");

	return CTL_OK;
}

/**
 * ctl_sock_recv() - receive messages
 * @buf: where they go
 * @size: room there
 * @len: length of all
 *
 * A datagram that does not fit is an error, never a short list.
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_sock_recv(void *buf, size_t size, size_t *len)
{
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t got;

	do {
		got = recvmsg(sock, &msg, 0);
	} while (got < 0 && errno == EINTR);

	if (got < 0 && errno == ENOBUFS)
		return ctl_fail(ENOBUFS, "answers of the kernel were lost: receive buffer full");
	if (got < 0)
		return ctl_fail(errno, "cannot receive from the kernel");
	if (!got || (msg.msg_flags & MSG_TRUNC))
		return ctl_fail(EMSGSIZE, "an answer of the kernel was cut off");

	*len = got;
	return CTL_OK;
}
