// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic between two hosts (network namespaces) of one machine that does the same
 * work in every run: one process has both ends, and reads what is available before
 * it sends more. Prints the number of instructions, on a CPU on which each takes a
 * nanosecond: the elapsed time without the CPU's idle time.
 *
 * Usage: ibbench FROM TO ADDRESS MODE COUNT [SIZE [STREAMS]]
 *        ibbench run COUNT COMMAND...	a command that does something COUNT times
 *
 * FROM and TO are network namespaces, ADDRESS is one of TO's. MODE:
 *
 *   tcp   COUNT octets, in writes of SIZE, over STREAMS connections
 *   rr    COUNT round trips of SIZE octets, over TCP
 *   udp   COUNT datagrams of SIZE octets, in bursts
 *   gso   COUNT sends of SIZE octets, which the kernel segments into datagrams of
 *         STREAMS octets and merges again for the receiver
 *
 * If the fabric has a meter, also prints how many of these instructions are the virtual HCAs'.
 *
 * If IBBENCH_MONITOR is set to a port of QEMU's monitor, QEMU logs each instruction
 * of the measurement.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT		5001
#define STREAMS_MAX	64
#define SIZE_MAX_OCTETS	65536
#define BURST		32	/* datagrams under way at once */
#define WAIT_MS		2000

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* A socket in each namespace */
struct flow {
	int from;
	int to;
};

struct job {
	struct flow flow[STREAMS_MAX];
	struct sockaddr_in address;
	const char *name_from;
	const char *name_to;
	unsigned long long count;
	size_t size;
	unsigned int streams;
};

struct mode {
	const char *name;
	int type;			/* socket type */
	void (*run)(struct job *job, unsigned long long count);
};

static char buffer[SIZE_MAX_OCTETS];

static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

static int socket_in(const char *name, int type)
{
	int fd;

	enter(name);
	fd = socket(AF_INET, type, 0);
	if (fd < 0)
		err(1, "socket");
	return fd;
}

static void set_option(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		err(1, "setsockopt %d %d", level, option);
}

/* A lost datagram ends the run by a timeout */
static void set_patience(int fd)
{
	const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		err(1, "SO_RCVTIMEO");
}

static int listen_in(struct job *job, int type)
{
	int fd = socket_in(job->name_to, type);

	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (struct sockaddr *)&job->address, sizeof(job->address)))
		err(1, "bind");
	if (type == SOCK_STREAM && listen(fd, STREAMS_MAX))
		err(1, "listen");
	return fd;
}

static void connect_flow(struct job *job, struct flow *flow, int type, int listener)
{
	flow->from = socket_in(job->name_from, type);
	if (connect(flow->from, (struct sockaddr *)&job->address, sizeof(job->address)))
		err(1, "connect");
	flow->to = type == SOCK_STREAM ? accept(listener, NULL, NULL) : listener;
	if (flow->to < 0)
		err(1, "accept");
	set_patience(flow->from);
	set_patience(flow->to);
	/* A burst exceeds the default size, as each datagram is charged a page,
	 * however small it is
	 */
	if (type == SOCK_DGRAM)
		set_option(flow->to, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
	if (type == SOCK_STREAM) {
		set_option(flow->from, IPPROTO_TCP, TCP_NODELAY, 1);
		set_option(flow->to, IPPROTO_TCP, TCP_NODELAY, 1);
	}
}

static unsigned long long drain(int fd)
{
	unsigned long long got = 0;
	ssize_t n;

	while ((n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
		got += n;
	if (!n || (n < 0 && errno != EAGAIN))
		err(1, "recv");
	return got;
}

static unsigned long long fill(int fd, unsigned long long limit, size_t size)
{
	unsigned long long put = 0;
	ssize_t n;

	while (put < limit) {
		n = send(fd, buffer, limit - put < size ? limit - put : size, MSG_DONTWAIT);
		if (n < 0)
			break;
		put += n;
	}
	if (put < limit && errno != EAGAIN)
		err(1, "send");
	return put;
}

/* Waits until something can be read, or until more can be sent */
static void wait_for_any(struct job *job)
{
	struct pollfd fds[2 * STREAMS_MAX];
	unsigned int i;

	for (i = 0; i < job->streams; i++) {
		fds[2 * i] = (struct pollfd){ .fd = job->flow[i].from, .events = POLLOUT };
		fds[2 * i + 1] = (struct pollfd){ .fd = job->flow[i].to, .events = POLLIN };
	}
	if (poll(fds, 2 * job->streams, WAIT_MS) <= 0)
		errx(1, "nothing comes");
}

/* What one connection still has to transfer */
struct left {
	unsigned long long to_send;
	unsigned long long to_read;
};

static void run_tcp(struct job *job, unsigned long long count)
{
	struct left left[STREAMS_MAX];
	unsigned long long total = 0, moved, n;
	unsigned int i;

	for (i = 0; i < job->streams; i++) {
		left[i].to_send = count / job->streams;
		left[i].to_read = count / job->streams;
		total += left[i].to_read;
	}
	while (total) {
		moved = 0;
		for (i = 0; i < job->streams; i++) {
			n = fill(job->flow[i].from, left[i].to_send, job->size);
			left[i].to_send -= n;
			moved += n;
			n = drain(job->flow[i].to);
			left[i].to_read -= n;
			total -= n;
			moved += n;
		}
		if (!moved)
			wait_for_any(job);
	}
}

static void give(int fd, size_t size)
{
	if (send(fd, buffer, size, 0) != (ssize_t)size)
		err(1, "send");
}

static void take(int fd, size_t size)
{
	if (recv(fd, buffer, size, MSG_WAITALL) != (ssize_t)size)
		err(1, "recv");
}

static void run_rr(struct job *job, unsigned long long count)
{
	while (count--) {
		give(job->flow[0].from, job->size);
		take(job->flow[0].to, job->size);
		give(job->flow[0].to, job->size);
		take(job->flow[0].from, job->size);
	}
}

static void run_udp(struct job *job, unsigned long long count)
{
	unsigned int i, burst;

	for (; count; count -= burst) {
		burst = count < BURST ? count : BURST;
		for (i = 0; i < burst; i++)
			give(job->flow[0].from, job->size);
		for (i = 0; i < burst; i++)
			take(job->flow[0].to, job->size);
	}
}

/* The receiver gets the packets that GRO has merged */
static void run_gso(struct job *job, unsigned long long count)
{
	ssize_t n;
	size_t got;

	set_option(job->flow[0].from, SOL_UDP, UDP_SEGMENT, job->streams);
	set_option(job->flow[0].to, SOL_UDP, UDP_GRO, 1);
	while (count--) {
		give(job->flow[0].from, job->size);
		for (got = 0; got < job->size; got += n) {
			n = recv(job->flow[0].to, buffer, sizeof(buffer), 0);
			if (n <= 0)
				err(1, "recv");
		}
	}
}

static const struct mode modes[] = {
	{ "tcp", SOCK_STREAM, run_tcp },
	{ "rr", SOCK_STREAM, run_rr },
	{ "udp", SOCK_DGRAM, run_udp },
	{ "gso", SOCK_DGRAM, run_gso },
};

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The idle time of the CPUs in ns; /proc/stat has a resolution of 10 ms only */
static unsigned long long idle_ns(void)
{
	unsigned long long ns, sum = 0;
	char line[256];
	FILE *file;

	file = fopen("/proc/timer_list", "r");
	if (!file)
		err(1, "/proc/timer_list");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %llu nsecs", &ns) == 1)
			sum += ns;
	fclose(file);
	return sum;
}

/* The instructions of the virtual HCAs; 0 if there are none or they are not counted */
static unsigned long long hcas_ns(void)
{
	FILE *file = fopen("/sys/kernel/debug/ibfab/meter", "r");
	unsigned long long ns;

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &ns) != 1)
		errx(1, "the fabric's meter is empty");
	fclose(file);
	return ns;
}

static const struct mode *mode_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	errx(2, "no such mode: %s", name);
}

static void open_flows(struct job *job, const struct mode *mode)
{
	unsigned int flows = mode->run == run_tcp ? job->streams : 1;
	int listener = listen_in(job, mode->type);
	unsigned int i;

	for (i = 0; i < flows; i++)
		connect_flow(job, &job->flow[i], mode->type, listener);
}

static void job_init(struct job *job, int argc, char **argv)
{
	*job = (struct job) {
		.name_from = argv[1],
		.name_to = argv[2],
		.address = { .sin_family = AF_INET, .sin_port = htons(PORT) },
		.count = strtoull(argv[5], NULL, 0),
		.size = argc > 6 ? strtoul(argv[6], NULL, 0) : SIZE_MAX_OCTETS,
		.streams = argc > 7 ? strtoul(argv[7], NULL, 0) : 1,
	};
	if (!inet_aton(argv[3], &job->address.sin_addr))
		errx(2, "no address: %s", argv[3]);
	if (!job->size || job->size > sizeof(buffer) || !job->streams)
		errx(2, "no such size");
}

/* The beginning of a measurement */
struct meter {
	unsigned long long idle;
	unsigned long long begin;
	unsigned long long hcas;
	int monitor;			/* port of QEMU's monitor, or -1 */
};

/* Sends one command; the answer is the first line that contains "return" */
static void monitor_say(int fd, const char *command)
{
	char said[4096];
	size_t len = 0;
	ssize_t n;

	dprintf(fd, "%s\n", command);
	do {
		n = read(fd, said + len, sizeof(said) - 1 - len);
		if (n <= 0)
			err(1, "QEMU's monitor says nothing");
		len += n;
		said[len] = '\0';
	} while (!strstr(said, "\"return\""));
}

static int monitor_open(void)
{
	const char *path = getenv("IBBENCH_MONITOR");
	int fd;

	if (!path)
		return -1;
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(1, "%s", path);
	monitor_say(fd, "{ 'execute': 'qmp_capabilities' }");
	return fd;
}

/* Runs a command of the human monitor, as QMP has no equivalent for these */
static void monitor_do(int fd, const char *line)
{
	char command[256];

	if (fd < 0)
		return;
	snprintf(command, sizeof(command),
		 "{ 'execute': 'human-monitor-command', 'arguments': { 'command-line': '%s' } }",
		 line);
	monitor_say(fd, command);
}

static void meter_start(struct meter *meter)
{
	meter->monitor = monitor_open();
	meter->idle = idle_ns();
	meter->hcas = hcas_ns();
	monitor_do(meter->monitor, "singlestep on");
	monitor_do(meter->monitor, "log exec,nochain");
	meter->begin = now_ns();
}

static void meter_stop(const struct meter *meter, unsigned long long count)
{
	unsigned long long end = now_ns(), idle;

	monitor_do(meter->monitor, "log none");
	monitor_do(meter->monitor, "singlestep off");
	idle = idle_ns() - meter->idle;
	printf("count %llu ns %llu busy %llu hcas %llu\n", count, end - meter->begin,
	       end - meter->begin - idle, hcas_ns() - meter->hcas);
}

static int run_command(char **argv)
{
	struct meter meter;
	int status;
	pid_t pid;

	meter_start(&meter);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "%s failed", argv[1]);
	meter_stop(&meter, strtoull(argv[0], NULL, 0));
	return 0;
}

int main(int argc, char **argv)
{
	const struct mode *mode;
	struct meter meter;
	struct job job;

	if (argc > 3 && !strcmp(argv[1], "run"))
		return run_command(argv + 2);
	if (argc < 6 || argc > 8)
		errx(2, "usage: ibbench FROM TO ADDRESS MODE COUNT [SIZE [STREAMS]]");
	mode = mode_of(argv[4]);
	job_init(&job, argc, argv);
	if (mode->run == run_tcp && job.streams > STREAMS_MAX)
		errx(2, "too many streams");
	open_flows(&job, mode);
	mode->run(&job, job.count / 8 + 1);
	meter_start(&meter);
	mode->run(&job, job.count);
	meter_stop(&meter, job.count);
	return 0;
}
