// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibats: who has an IP address in an InfiniBand subnet, and what becomes of this host's
 * own. Its manual, ibats(8), says what each command does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibats.h"

enum status {
	STATUS_FOUND,
	STATUS_NOT_FOUND,
	STATUS_USAGE,
	STATUS_NO_SA,
	STATUS_FAILED,
};

struct options {
	bool json;
	bool primary;
	const char *device;
	__u32 port;
	__u16 pkey;
	__u32 timeout_ms;
};

/* A command of the command line */
struct verb {
	const char *name;
	const char *arguments;
	const char *help;
	int least;			/* arguments */
	int most;
	const char *options;		/* those that it takes, beside --json */
	enum status (*run)(struct nl *nl, const struct options *options, char **arguments);
};

/* Rows as they come */
struct rows {
	struct json_object *array;
};

static const char *const resolve_keys[] = {
	"address", "gid", "pkey", "sid", "primary", NULL
};

static const char *const list_keys[] = {
	"interface", "address", "state", "primary", "sid", "pkey", "gid", "device", "port", NULL
};

static const char *const stats_keys[] = {
	"device", "port", "sa", "sets", "deletes", "reads", "queries", "timeouts", "busy",
	"refusals", "repairs", "abandoned", "overflows", NULL
};

/* ---- How it ends ---- */

static enum status status_of(int err)
{
	switch (-err) {
	case 0:
		return STATUS_FOUND;
	case ENOENT:
	case EADDRNOTAVAIL:
		return STATUS_NOT_FOUND;
	case EINVAL:
	case ERANGE:
	case EOPNOTSUPP:
		return STATUS_USAGE;
	case ENODEV:
	case ENETUNREACH:
	case ETIMEDOUT:
		return STATUS_NO_SA;
	default:
		return STATUS_FAILED;
	}
}

static const char *text_of(int err)
{
	switch (-err) {
	case ENOENT:
		return "nobody has it";
	case ENODEV:
		return "there is no port to ask by";
	case ENETUNREACH:
		return "there is no subnet administrator, and nothing known here";
	case ETIMEDOUT:
		return "the subnet administrator does not answer";
	case EREMOTEIO:
		return "the subnet administrator refuses to answer";
	default:
		return strerror(-err);
	}
}

/* Says what went wrong, if anything */
static enum status ended(const struct nl *nl, const char *what, int err)
{
	if (err)
		fprintf(stderr, "ibats: %s: %s\n", what, nl->error[0] ? nl->error : text_of(err));
	return status_of(err);
}

static enum status misused(const char *what, const char *text)
{
	fprintf(stderr, "ibats: %s: %s\n", what, text);
	return STATUS_USAGE;
}

/* ---- Questions ---- */

/* What has no address is the message about the port that is asked */
static void rows_add(void *context, const struct nlmsghdr *message)
{
	struct rows *rows = context;
	struct json_object *row = row_parse(message);

	if (json_object_object_get_ex(row, "address", NULL) ||
	    json_object_object_get_ex(row, "sa", NULL))
		json_object_array_add(rows->array, row);
	else
		json_object_put(row);
}

static void rows_print(struct json_object *rows, const struct options *options,
		       const char *const *keys)
{
	if (options->json)
		rows_print_json(rows);
	else
		rows_print_table(rows, keys);
}

/* Sends the request that was begun, and prints what comes */
static enum status ask(struct nl *nl, const struct options *options, const char *what,
		       const char *const *keys)
{
	struct rows rows = { .array = json_object_new_array() };
	int err = nl_talk(nl, rows_add, &rows);

	if (!err || err == -ENOENT)
		rows_print(rows.array, options, keys);
	json_object_put(rows.array);
	return ended(nl, what, err);
}

static void put_port(struct nlmsghdr *message, const struct options *options)
{
	if (options->device)
		mnl_attr_put_strz(message, IB_ATS_ATTR_DEVICE, options->device);
	if (options->port)
		mnl_attr_put_u32(message, IB_ATS_ATTR_PORT, options->port);
}

static struct nlmsghdr *find_begin(struct nl *nl, const struct options *options,
				   enum ib_ats_find find)
{
	struct nlmsghdr *message = nl_begin(nl, IB_ATS_CMD_RESOLVE, NLM_F_DUMP);

	mnl_attr_put_u32(message, IB_ATS_ATTR_FIND, find);
	put_port(message, options);
	if (options->pkey)
		mnl_attr_put_u16(message, IB_ATS_ATTR_PKEY, options->pkey);
	if (options->timeout_ms)
		mnl_attr_put_u32(message, IB_ATS_ATTR_TIMEOUT, options->timeout_ms);
	return message;
}

/* An IPv4 address as ::ffff:a.b.c.d */
static bool parse_ip(const char *text, struct in6_addr *ip)
{
	memset(ip, 0, sizeof(*ip));
	ip->s6_addr[10] = 0xff;
	ip->s6_addr[11] = 0xff;
	return inet_pton(AF_INET, text, &ip->s6_addr[12]) == 1 ||
	       inet_pton(AF_INET6, text, ip) == 1;
}

static enum status run_resolve(struct nl *nl, const struct options *options, char **arguments)
{
	struct nlmsghdr *message;
	struct in6_addr ip;

	if (!parse_ip(arguments[0], &ip))
		return misused(arguments[0], "not an IP address");
	message = find_begin(nl, options, IB_ATS_FIND_ADDR);
	mnl_attr_put(message, IB_ATS_ATTR_ADDR, sizeof(ip), &ip);
	return ask(nl, options, arguments[0], resolve_keys);
}

static enum status run_reverse(struct nl *nl, const struct options *options, char **arguments)
{
	struct nlmsghdr *message;
	struct in6_addr gid;

	if (inet_pton(AF_INET6, arguments[0], &gid) != 1)
		return misused(arguments[0], "not a GID");
	message = find_begin(nl, options,
			     options->primary ? IB_ATS_FIND_PRIMARY : IB_ATS_FIND_GID);
	mnl_attr_put(message, IB_ATS_ATTR_GID, sizeof(gid), &gid);
	return ask(nl, options, arguments[0], resolve_keys);
}

static bool parse_number(const char *text, __u64 most, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number <= most;
}

static enum status run_sid(struct nl *nl, const struct options *options, char **arguments)
{
	struct nlmsghdr *message;
	__u64 sid;

	if (!parse_number(arguments[0], UINT64_MAX, &sid))
		return misused(arguments[0], "not a Service ID");
	message = find_begin(nl, options, IB_ATS_FIND_SID);
	mnl_attr_put_u64(message, IB_ATS_ATTR_SID, sid);
	return ask(nl, options, arguments[0], resolve_keys);
}

/* ---- This host ---- */

static enum status run_list(struct nl *nl, const struct options *options, char **arguments)
{
	(void)arguments;
	nl_begin(nl, IB_ATS_CMD_LIST, NLM_F_DUMP);
	return ask(nl, options, "list", list_keys);
}

static enum status run_stats(struct nl *nl, const struct options *options, char **arguments)
{
	(void)arguments;
	nl_begin(nl, IB_ATS_CMD_STATS, NLM_F_DUMP);
	return ask(nl, options, "stats", stats_keys);
}

static enum status run_primary(struct nl *nl, const struct options *options, char **arguments)
{
	unsigned int index = if_nametoindex(arguments[0]);
	struct nlmsghdr *message;
	struct in6_addr ip;

	(void)options;
	if (!index) {
		fprintf(stderr, "ibats: %s: there is no such interface\n", arguments[0]);
		return STATUS_NOT_FOUND;
	}
	if (arguments[1] && !parse_ip(arguments[1], &ip))
		return misused(arguments[1], "not an IP address");
	message = nl_begin(nl, IB_ATS_CMD_PRIMARY, NLM_F_ACK);
	mnl_attr_put_u32(message, IB_ATS_ATTR_IFINDEX, index);
	if (arguments[1])
		mnl_attr_put(message, IB_ATS_ATTR_ADDR, sizeof(ip), &ip);
	return ended(nl, arguments[1] ? arguments[1] : arguments[0], nl_talk(nl, NULL, NULL));
}

static enum status run_audit(struct nl *nl, const struct options *options, char **arguments)
{
	(void)arguments;
	put_port(nl_begin(nl, IB_ATS_CMD_AUDIT, NLM_F_ACK), options);
	return ended(nl, "audit", nl_talk(nl, NULL, NULL));
}

/* ---- As it changes ---- */

static enum status run_monitor(struct nl *nl, const struct options *options, char **arguments)
{
	(void)arguments;
	return ended(nl, "monitor", monitor_run(nl, options->json));
}

/* ---- The command line ---- */

static const struct verb verbs[] = {
	{ "resolve", "ADDR", "which GIDs have an IP address", 1, 1, "dpkt", run_resolve },
	{ "reverse", "GID", "which IP addresses a GID has", 1, 1, "dpktP", run_reverse },
	{ "sid", "SID", "all records with a Service ID", 1, 1, "dpkt", run_sid },
	{ "list", "", "the records of this host's interfaces", 0, 0, "", run_list },
	{ "monitor", "", "list them, and each that changes", 0, 0, "", run_monitor },
	{ "stats", "", "what each port has done", 0, 0, "", run_stats },
	{ "primary", "IF [ADDR]", "name an interface's primary address, or none", 1, 2, "",
	  run_primary },
	{ "audit", "", "have the SA's records read back and repaired", 0, 0, "dp", run_audit },
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "primary", no_argument, NULL, 'P' },
	{ "device", required_argument, NULL, 'd' },
	{ "port", required_argument, NULL, 'p' },
	{ "pkey", required_argument, NULL, 'k' },
	{ "timeout", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static void usage(FILE *to)
{
	unsigned int i;

	fputs("Usage: ibats [OPTION]... COMMAND\n\n", to);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-8s %-10s  %s\n", verbs[i].name, verbs[i].arguments,
			verbs[i].help);
	fputs("\n"
	      "  -j, --json         for programs\n"
	      "  -P, --primary      reverse: the primary address alone\n"
	      "  -k, --pkey NUMBER  of that partition\n"
	      "  -d, --device NAME  ask by that HCA\n"
	      "  -p, --port NUMBER  ask by that port\n"
	      "  -t, --timeout MS   try for so long, 1 to 60000\n"
	      "  -h, --help         this\n\n"
	      "Exit status: 0 found or done, 1 not found, 2 misused, 3 no subnet\n"
	      "administrator, 4 anything else\n", to);
}

static bool parse_option_number(const char *text, __u64 most, __u64 *number)
{
	if (parse_number(text, most, number) && *number)
		return true;
	misused(text, "not a number that this option takes");
	return false;
}

static bool parse_option(struct options *options, int letter)
{
	__u64 number;

	switch (letter) {
	case 'j':
		options->json = true;
		return true;
	case 'P':
		options->primary = true;
		return true;
	case 'd':
		options->device = optarg;
		if (strlen(optarg) < 64)
			return true;
		misused(optarg, "not the name of an HCA");
		return false;
	case 'p':
		if (!parse_option_number(optarg, UINT32_MAX, &number))
			return false;
		options->port = number;
		return true;
	case 'k':
		if (!parse_option_number(optarg, UINT16_MAX, &number))
			return false;
		options->pkey = number;
		return true;
	case 't':
		if (!parse_option_number(optarg, UINT32_MAX, &number))
			return false;
		options->timeout_ms = number;
		return true;
	default:
		return false;
	}
}

/* given: the letters of the options that were */
static enum status run_verb(const struct verb *verb, const struct options *options,
			    const char *given, char **arguments)
{
	enum status status;
	struct nl nl;
	int err;

	for (; *given; given++)
		if (!strchr(verb->options, *given))
			return misused(verb->name, "does not take this option");
	err = nl_open(&nl);
	if (err) {
		fprintf(stderr, "ibats: %s\n", err == -ENOENT ?
			"the kernel's module ib_ats is not loaded" : strerror(-err));
		return STATUS_FAILED;
	}
	status = verb->run(&nl, options, arguments);
	nl_close(&nl);
	return status;
}

static const struct verb *verb_find(const char *name)
{
	unsigned int i;

	for (i = 0; name && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	struct options options = {};
	const struct verb *verb;
	char given[8] = "";
	int letter;

	while ((letter = getopt_long(argc, argv, "jPd:p:k:t:h", long_options, NULL)) != -1) {
		if (letter == 'h') {
			usage(stdout);
			return STATUS_FOUND;
		}
		if (!parse_option(&options, letter))
			return STATUS_USAGE;
		if (letter != 'j' && !strchr(given, letter))
			given[strlen(given)] = letter;
	}
	verb = verb_find(argv[optind++]);
	if (!verb || argc - optind < verb->least || argc - optind > verb->most) {
		usage(stderr);
		return STATUS_USAGE;
	}
	return run_verb(verb, &options, given, argv + optind);
}
