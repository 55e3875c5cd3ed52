// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * atsflood: queries the Address Translation Service as fast as it can, as a hostile user may.
 *
 *     atsflood SOCKETS SECONDS
 *
 * The sockets belong to several processes, each of which forks, so that two processes use each
 * socket. One socket in four is never read, one in eight gets a request to dump answers, which
 * is invalid, and one process in four stops itself. Finally the numbers of queries, refusals and
 * answers are printed: "asked N refused N answered N".
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <netinet/in.h>

#include "../../uapi/ib_ats_netlink.h"

#define PROCESSES	8
#define BUFFER		16384

/* Shared by all processes */
struct figures {
	atomic_ulong asked;
	atomic_ulong refused;
	atomic_ulong answered;
};

static struct figures *figures;
static uint16_t family;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct nlmsghdr *message_begin(void *buffer, uint16_t type, uint16_t flags, uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = 1;
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return message;
}

static struct mnl_socket *socket_open(void)
{
	struct mnl_socket *socket = mnl_socket_open(NETLINK_GENERIC);

	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		die("a socket");
	return socket;
}

static void family_find(void)
{
	struct mnl_socket *socket = socket_open();
	char buffer[BUFFER];
	struct nlmsghdr *message;
	const struct nlattr *attr;
	ssize_t len;

	message = message_begin(buffer, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, IB_ATS_GENL_NAME);
	mnl_socket_sendto(socket, message, message->nlmsg_len);
	len = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	if (len < (ssize_t)sizeof(*message) || message->nlmsg_type == NLMSG_ERROR)
		die("the family");
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			family = mnl_attr_get_u16(attr);
	mnl_socket_close(socket);
}

/* Asks for an address that does not exist, a different one each time */
static void ask(struct mnl_socket *socket, unsigned int number)
{
	unsigned long times = atomic_fetch_add(&figures->asked, 1);
	struct in6_addr ip = {};
	char buffer[256];
	struct nlmsghdr *message;

	message = message_begin(buffer, family, number % 8 ? NLM_F_ACK : NLM_F_DUMP,
				IB_ATS_CMD_RESOLVE);
	ip.s6_addr[10] = 0xff;
	ip.s6_addr[11] = 0xff;
	ip.s6_addr[12] = 10;
	ip.s6_addr[13] = 200 + (times >> 16) % 50;
	ip.s6_addr[14] = times >> 8;
	ip.s6_addr[15] = times;
	mnl_attr_put(message, IB_ATS_ATTR_ADDR, sizeof(ip), &ip);
	mnl_attr_put_u32(message, IB_ATS_ATTR_TIMEOUT, 60000);
	mnl_socket_sendto(socket, message, message->nlmsg_len);
}

/* Receives a message. Returns true if its query has ended, so that the next one can be sent */
static bool take(struct mnl_socket *socket)
{
	const struct nlmsgerr *error;
	const struct nlmsghdr *message;
	char buffer[BUFFER];
	int len = recv(mnl_socket_get_fd(socket), buffer, sizeof(buffer), MSG_DONTWAIT);

	if (len < 0)
		return errno == ENOBUFS;
	message = (const struct nlmsghdr *)buffer;
	if (message->nlmsg_type != NLMSG_ERROR) {
		atomic_fetch_add(&figures->answered, 1);
		return true;
	}
	error = mnl_nlmsg_get_payload(message);
	if (error->error)
		atomic_fetch_add(&figures->refused, 1);
	return error->error;
}

static void flood(unsigned int count, time_t until)
{
	struct mnl_socket **sockets = calloc(count, sizeof(*sockets));
	struct pollfd *fds = calloc(count, sizeof(*fds));
	unsigned int i;

	if (!sockets || !fds)
		die("memory");
	for (i = 0; i < count; i++) {
		sockets[i] = socket_open();
		fds[i].fd = mnl_socket_get_fd(sockets[i]);
		fds[i].events = i % 4 ? POLLIN : 0;
	}
	if (fork() < 0)
		die("fork");
	for (i = 0; i < count; i++)
		ask(sockets[i], i);
	while (time(NULL) < until) {
		poll(fds, count, 1000);
		for (i = 0; i < count; i++)
			if (fds[i].revents & POLLIN && take(sockets[i]))
				ask(sockets[i], i);
	}
	wait(NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	unsigned int i, count = argc == 3 ? atoi(argv[1]) : 0;
	pid_t stopped[PROCESSES / 4];
	time_t until;
	pid_t pid;

	if (count < PROCESSES) {
		fputs("Usage: atsflood SOCKETS SECONDS\n", stderr);
		return 2;
	}
	until = time(NULL) + atoi(argv[2]);
	family_find();
	figures = mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (figures == MAP_FAILED)
		die("mmap");
	for (i = 0; i < PROCESSES; i++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			flood(count / PROCESSES, until);
		if (i % 4 == 3)
			stopped[i / 4] = pid;
	}
	/* Until then each has sent queries */
	sleep(2);
	for (i = 0; i < PROCESSES / 4; i++)
		kill(stopped[i], SIGSTOP);
	while (time(NULL) < until)
		sleep(1);
	for (i = 0; i < PROCESSES / 4; i++)
		kill(stopped[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	printf("asked %lu refused %lu answered %lu\n", atomic_load(&figures->asked),
	       atomic_load(&figures->refused), atomic_load(&figures->answered));
	return 0;
}
