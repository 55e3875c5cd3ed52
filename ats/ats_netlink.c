// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The generic netlink family: user space asks who has an address, sees what becomes of
 * the addresses of its namespace's interfaces, and has a say in it.
 *
 * A question waits for an SA, perhaps for seconds. A handler must not: all handlers of
 * all families are called under one lock, that of whoever registers a family, whatever
 * parallel_ops says. So a question is a dump, whose first message says which port is
 * asked and is sent at once. The next is due when that one is received, which takes no
 * lock but the socket's own: there the asker itself waits, and can be interrupted. The
 * question ends with the socket, and any number of answers gets through.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "ats.h"

#define ATS_NL_TIMEOUT_MAX	60000	/* ms */

enum ats_nl_group {
	ATS_NL_RECORDS,
};

static struct genl_family ats_family;

/* ---- What all messages have ---- */

static void *message_begin(struct sk_buff *skb, const struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &ats_family,
			   NLM_F_MULTI, cmd);
}

/* Returns 0, or -EMSGSIZE if what was put since message_begin() does not fit */
static int message_end(struct sk_buff *skb, void *hdr, bool failed)
{
	if (!failed) {
		genlmsg_end(skb, hdr);
		return 0;
	}
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static bool put_port(struct sk_buff *skb, const char *device, u32 port)
{
	return nla_put_string(skb, IB_ATS_ATTR_DEVICE, device) ||
	       nla_put_u32(skb, IB_ATS_ATTR_PORT, port);
}

/* Returns whether it does not fit, as does put_port() */
static bool put_record(struct sk_buff *skb, const struct ib_ats_answer *record)
{
	return nla_put(skb, IB_ATS_ATTR_GID, sizeof(record->gid), &record->gid) ||
	       nla_put_u16(skb, IB_ATS_ATTR_PKEY, record->pkey) ||
	       nla_put_in6_addr(skb, IB_ATS_ATTR_ADDR, &record->addr) ||
	       (record->sid && nla_put_u64_64bit(skb, IB_ATS_ATTR_SID, record->sid,
						 IB_ATS_ATTR_PAD)) ||
	       (record->primary && nla_put_flag(skb, IB_ATS_ATTR_IS_PRIMARY));
}

/* ---- Who has an address ---- */

/* A question under way; netlink_callback.ctx has a pointer to it once it is asked */
struct resolve {
	struct ib_ats_query *query;
	struct completion ended;
	int err;
	struct ib_ats_answer *answers;
	unsigned int count;
	unsigned int next;
};

static struct resolve **resolve_of(struct netlink_callback *cb)
{
	return (struct resolve **)cb->ctx;
}

static struct netlink_range_validation timeout_range = {
	.min = 1,
	.max = ATS_NL_TIMEOUT_MAX,
};

static const struct nla_policy resolve_policy[IB_ATS_ATTR_TIMEOUT + 1] = {
	[IB_ATS_ATTR_FIND] = NLA_POLICY_MAX(NLA_U32, IB_ATS_FIND_MAX),
	[IB_ATS_ATTR_DEVICE] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[IB_ATS_ATTR_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
	[IB_ATS_ATTR_GID] = NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[IB_ATS_ATTR_PKEY] = NLA_POLICY_MIN(NLA_U16, 1),
	[IB_ATS_ATTR_ADDR] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[IB_ATS_ATTR_SID] = { .type = NLA_U64 },
	[IB_ATS_ATTR_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &timeout_range),
};

static const struct nlattr *subject_of(enum ib_ats_find find, struct nlattr **attrs,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *subject;

	switch (find) {
	case IB_ATS_FIND_ADDR:
		subject = attrs[IB_ATS_ATTR_ADDR];
		if (!subject)
			NL_SET_ERR_MSG(extack, "Give the IP address to be found, ADDR");
		return subject;
	case IB_ATS_FIND_SID:
		subject = attrs[IB_ATS_ATTR_SID];
		if (!subject)
			NL_SET_ERR_MSG(extack, "Give the Service ID to be found, SID");
		return subject;
	default:
		subject = attrs[IB_ATS_ATTR_GID];
		if (!subject)
			NL_SET_ERR_MSG(extack, "Give the GID to be found, GID");
		return subject;
	}
}

static int question_parse_subject(struct ib_ats_question *question, struct nlattr **attrs,
				  struct netlink_ext_ack *extack)
{
	static const enum ib_ats_kind kinds[] = {
		[IB_ATS_FIND_ADDR] = IB_ATS_BY_ADDR,
		[IB_ATS_FIND_GID] = IB_ATS_BY_GID,
		[IB_ATS_FIND_PRIMARY] = IB_ATS_PRIMARY,
		[IB_ATS_FIND_SID] = IB_ATS_BY_SID,
	};
	enum ib_ats_find find = IB_ATS_FIND_ADDR;
	const struct nlattr *subject;

	if (attrs[IB_ATS_ATTR_FIND])
		find = nla_get_u32(attrs[IB_ATS_ATTR_FIND]);
	subject = subject_of(find, attrs, extack);
	if (!subject)
		return -EINVAL;
	question->kind = kinds[find];
	if (find == IB_ATS_FIND_ADDR)
		question->addr = nla_get_in6_addr(subject);
	else if (find == IB_ATS_FIND_SID)
		question->sid = nla_get_u64(subject);
	else
		memcpy(&question->gid, nla_data(subject), sizeof(question->gid));
	return 0;
}

static int question_parse(struct ib_ats_question *question, struct nlattr **attrs,
			  struct netlink_ext_ack *extack)
{
	if (attrs[IB_ATS_ATTR_PORT])
		question->port = nla_get_u32(attrs[IB_ATS_ATTR_PORT]);
	if (attrs[IB_ATS_ATTR_PKEY])
		question->pkey = nla_get_u16(attrs[IB_ATS_ATTR_PKEY]);
	if (attrs[IB_ATS_ATTR_TIMEOUT])
		question->timeout_ms = nla_get_u32(attrs[IB_ATS_ATTR_TIMEOUT]);
	return question_parse_subject(question, attrs, extack);
}

static int device_get(struct ib_device **ibdev, const struct nlattr *name)
{
	if (!name)
		return 0;
	*ibdev = ib_device_get_by_name(nla_data(name), RDMA_DRIVER_UNKNOWN);
	return *ibdev ? 0 : -ENODEV;
}

static void resolve_ended(void *context, int err, const struct ib_ats_answer *answers,
			  unsigned int count)
{
	struct resolve *resolve = context;

	resolve->err = err;
	if (count) {
		resolve->answers = kvmalloc_array(count, sizeof(*answers), GFP_KERNEL);
		if (resolve->answers)
			memcpy(resolve->answers, answers, array_size(count, sizeof(*answers)));
		else
			resolve->err = -ENOMEM;
		resolve->count = resolve->answers ? count : 0;
	}
	complete_all(&resolve->ended);
}

static int resolve_ask(struct resolve *resolve, const struct ib_ats_question *question,
		       struct netlink_ext_ack *extack)
{
	int err;

	resolve->query = ib_ats_ask(question, resolve_ended, resolve);
	err = PTR_ERR_OR_ZERO(resolve->query);
	if (err == -EINVAL && question->kind == IB_ATS_BY_SID)
		NL_SET_ERR_MSG(extack,
			       "Give a Service ID from 0x10000ce100415400 to 0x10000ce1004154ff");
	else if (err == -EINVAL)
		NL_SET_ERR_MSG(extack, "Give an address other than the unspecified one");
	else if (err == -ENODEV)
		NL_SET_ERR_MSG(extack, "There is no such port here to ask by");
	return err;
}

static int resolve_create(struct netlink_callback *cb, const struct ib_ats_question *question)
{
	struct resolve *resolve = kzalloc(sizeof(*resolve), GFP_KERNEL);
	int err;

	if (!resolve)
		return -ENOMEM;
	init_completion(&resolve->ended);
	err = resolve_ask(resolve, question, cb->extack);
	if (err)
		kfree(resolve);
	else
		*resolve_of(cb) = resolve;
	return err;
}

/* Here and not in genl_ops.start, since that cannot say what is wrong */
static int resolve_begin(struct netlink_callback *cb)
{
	struct nlattr **attrs = genl_dumpit_info(cb)->attrs;
	struct ib_ats_question question = { .net = sock_net(cb->skb->sk) };
	int err;

	err = question_parse(&question, attrs, cb->extack);
	if (err)
		return err;
	err = device_get(&question.ibdev, attrs[IB_ATS_ATTR_DEVICE]);
	if (err) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[IB_ATS_ATTR_DEVICE],
				    "There is no such HCA");
		return err;
	}
	err = resolve_create(cb, &question);
	if (question.ibdev)
		ib_device_put(question.ibdev);
	return err;
}

static int resolve_tell_port(struct sk_buff *skb, const struct netlink_callback *cb,
			     const struct resolve *resolve)
{
	void *hdr = message_begin(skb, cb, IB_ATS_CMD_RESOLVE);
	const char *device;
	u32 port;

	if (!hdr)
		return -EMSGSIZE;
	device = ats_query_device(resolve->query, &port);
	return message_end(skb, hdr, put_port(skb, device, port)) ?: skb->len;
}

static int resolve_tell_answer(struct sk_buff *skb, const struct netlink_callback *cb,
			       const struct ib_ats_answer *answer)
{
	void *hdr = message_begin(skb, cb, IB_ATS_CMD_RESOLVE);

	return hdr ? message_end(skb, hdr, put_record(skb, answer)) : -EMSGSIZE;
}

static int resolve_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct resolve *resolve = *resolve_of(cb);

	if (!resolve)
		return resolve_begin(cb) ?: resolve_tell_port(skb, cb, *resolve_of(cb));
	if (wait_for_completion_interruptible(&resolve->ended))
		return -EINTR;
	if (resolve->err)
		return resolve->err;
	for (; resolve->next < resolve->count; resolve->next++)
		if (resolve_tell_answer(skb, cb, &resolve->answers[resolve->next]))
			break;
	return skb->len;
}

static int resolve_done(struct netlink_callback *cb)
{
	struct resolve *resolve = *resolve_of(cb);

	if (!resolve)
		return 0;
	ib_ats_free(resolve->query);
	kvfree(resolve->answers);
	kfree(resolve);
	return 0;
}

/* ---- What a namespace has ---- */

/* Records of a namespace on one port; in netlink_callback.ctx there is a list of them */
struct list_part {
	struct list_part *next;
	char device[IB_DEVICE_NAME_MAX];
	u32 port;
	unsigned int told;
	unsigned int count;
	struct ats_local local[];
};

struct list_dump {
	u64 net_cookie;
	struct list_part *parts;
};

static struct list_dump *list_dump_of(struct netlink_callback *cb)
{
	return (struct list_dump *)cb->ctx;
}

static unsigned int view_count_net(const struct ats_view *view, u64 net_cookie)
{
	unsigned int i, count = 0;

	for (i = 0; i < view->count; i++)
		count += view->local[i].net_cookie == net_cookie;
	return count;
}

static struct list_part *part_create(const struct ats_view *view, u64 net_cookie,
				     unsigned int count)
{
	struct list_part *part = kvzalloc(struct_size(part, local, count), GFP_KERNEL);
	unsigned int i;

	if (!part)
		return NULL;
	for (i = 0; i < view->count; i++)
		if (view->local[i].net_cookie == net_cookie)
			part->local[part->count++] = view->local[i];
	return part;
}

static int list_add_port(struct ats_port *port, void *arg)
{
	struct ats_view *view = ats_view_get(port);
	struct list_part *part = NULL;
	struct list_dump *dump = arg;
	unsigned int count;

	if (!view)
		return 0;
	count = view_count_net(view, dump->net_cookie);
	if (count)
		part = part_create(view, dump->net_cookie, count);
	ats_view_put(view);
	if (!part)
		return count ? -ENOMEM : 0;
	strscpy(part->device, dev_name(&port->ibdev->dev), sizeof(part->device));
	part->port = port->port;
	part->next = dump->parts;
	dump->parts = part;
	return 0;
}

static void list_free(struct list_dump *dump)
{
	struct list_part *part;

	while (dump->parts) {
		part = dump->parts;
		dump->parts = part->next;
		kvfree(part);
	}
}

static int list_start(struct netlink_callback *cb)
{
	const struct net *net = sock_net(cb->skb->sk);
	struct list_dump *dump = list_dump_of(cb);
	int err;

	dump->net_cookie = net->net_cookie;
	dump->parts = NULL;
	err = ats_each_port(net, list_add_port, dump);
	if (err)
		list_free(dump);
	return err;
}

static struct ib_ats_answer local_record(const struct ats_local *local)
{
	struct ib_ats_answer record = {
		.gid = local->key.gid,
		.addr = local->ip,
		.pkey = local->key.pkey,
		.primary = !local->slot,
	};

	if (local->slot >= 0)
		record.sid = ats_slot_sid(local->slot);
	ats_addr_to_mapped(&record.addr);
	return record;
}

static bool put_local(struct sk_buff *skb, const char *device, u32 port,
		      const struct ats_local *local)
{
	struct ib_ats_answer record = local_record(local);

	return put_port(skb, device, port) || put_record(skb, &record) ||
	       nla_put_s32(skb, IB_ATS_ATTR_IFINDEX, local->ifindex) ||
	       nla_put_u32(skb, IB_ATS_ATTR_STATE, local->state);
}

static int list_tell(struct sk_buff *skb, const struct netlink_callback *cb,
		     const struct list_part *part)
{
	void *hdr = message_begin(skb, cb, IB_ATS_CMD_LIST);

	if (!hdr)
		return -EMSGSIZE;
	return message_end(skb, hdr, put_local(skb, part->device, part->port,
					       &part->local[part->told]));
}

static int list_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct list_part *part;

	for (part = list_dump_of(cb)->parts; part; part = part->next)
		for (; part->told < part->count; part->told++)
			if (list_tell(skb, cb, part))
				return skb->len;
	return skb->len;
}

static int list_done(struct netlink_callback *cb)
{
	list_free(list_dump_of(cb));
	return 0;
}

/* ---- What its administrator wants ---- */

static const struct nla_policy primary_policy[IB_ATS_ATTR_ADDR + 1] = {
	[IB_ATS_ATTR_IFINDEX] = NLA_POLICY_MIN(NLA_S32, 1),
	[IB_ATS_ATTR_ADDR] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
};

static int primary_choose(struct net *net, int ifindex, const struct nlattr *attr)
{
	struct in6_addr ip;

	if (!attr)
		return ats_netdev_choose(net, ifindex, NULL);
	ip = nla_get_in6_addr(attr);
	ats_addr_from_mapped(&ip);
	return ats_netdev_choose(net, ifindex, &ip);
}

static int primary_do(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *ifindex = info->attrs[IB_ATS_ATTR_IFINDEX];
	int err;

	if (GENL_REQ_ATTR_CHECK(info, IB_ATS_ATTR_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "Give the interface, IFINDEX");
		return -EINVAL;
	}
	err = primary_choose(genl_info_net(info), nla_get_s32(ifindex),
			     info->attrs[IB_ATS_ATTR_ADDR]);
	if (err == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex, "There is no such interface here");
	if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex, "Give an interface of InfiniBand");
	if (err == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[IB_ATS_ATTR_ADDR],
				    "Give an address of this interface that can be registered");
	return err;
}

static const struct nla_policy audit_policy[IB_ATS_ATTR_PORT + 1] = {
	[IB_ATS_ATTR_DEVICE] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[IB_ATS_ATTR_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Which ports to audit */
struct audit {
	u64 net_cookie;
	const char *device;		/* NULL: all */
	u32 port;			/* 0: all */
	unsigned int found;
};

/* The ports that are nobody's in the namespace are left to others */
static int audit_port(struct ats_port *port, void *arg)
{
	struct audit *audit = arg;

	if ((audit->device && strcmp(audit->device, dev_name(&port->ibdev->dev))) ||
	    (audit->port && audit->port != port->port) ||
	    !ats_view_has_net(port, audit->net_cookie))
		return 0;
	audit->found++;
	ats_port_audit(port);
	return 0;
}

static int audit_do(struct sk_buff *skb, struct genl_info *info)
{
	const struct net *net = genl_info_net(info);
	struct audit audit = { .net_cookie = net->net_cookie };

	if (info->attrs[IB_ATS_ATTR_DEVICE])
		audit.device = nla_data(info->attrs[IB_ATS_ATTR_DEVICE]);
	if (info->attrs[IB_ATS_ATTR_PORT])
		audit.port = nla_get_u32(info->attrs[IB_ATS_ATTR_PORT]);
	ats_each_port(net, audit_port, &audit);
	if (audit.found)
		return 0;
	NL_SET_ERR_MSG(info->extack, "No interface here has addresses on such a port");
	return -ENODEV;
}

/* ---- What ports did ---- */

struct stats_dump {
	struct sk_buff *skb;
	const struct netlink_callback *cb;
	unsigned int skip;		/* ports told in earlier messages */
	unsigned int told;
};

static bool put_counters(struct sk_buff *skb, const struct ats_counters *count)
{
	const u64 values[] = {
		[IB_ATS_COUNTER_SETS] = count->sets,
		[IB_ATS_COUNTER_DELETES] = count->deletes,
		[IB_ATS_COUNTER_READS] = count->reads,
		[IB_ATS_COUNTER_QUERIES] = count->queries,
		[IB_ATS_COUNTER_TIMEOUTS] = count->timeouts,
		[IB_ATS_COUNTER_BUSY] = count->busy,
		[IB_ATS_COUNTER_REFUSALS] = count->refusals,
		[IB_ATS_COUNTER_REPAIRS] = count->repairs,
		[IB_ATS_COUNTER_ABANDONED] = count->abandoned,
		[IB_ATS_COUNTER_OVERFLOWS] = count->overflows,
	};
	struct nlattr *nest = nla_nest_start(skb, IB_ATS_ATTR_COUNTERS);
	unsigned int i;

	if (!nest)
		return true;
	for (i = IB_ATS_COUNTER_SETS; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, i, values[i], IB_ATS_COUNTER_PAD))
			return true;
	nla_nest_end(skb, nest);
	return false;
}

static bool put_status(struct sk_buff *skb, const struct ats_port *port,
		       const struct ats_status *status)
{
	return put_port(skb, dev_name(&port->ibdev->dev), port->port) ||
	       nla_put_u32(skb, IB_ATS_ATTR_SA, status->sa) ||
	       put_counters(skb, &status->count);
}

static int stats_tell(struct ats_port *port, void *arg)
{
	struct stats_dump *dump = arg;
	struct ats_status status;
	void *hdr;
	int err;

	if (dump->skip) {
		dump->skip--;
		return 0;
	}
	hdr = message_begin(dump->skb, dump->cb, IB_ATS_CMD_STATS);
	if (!hdr)
		return -EMSGSIZE;
	status = ats_view_status(port);
	err = message_end(dump->skb, hdr, put_status(dump->skb, port, &status));
	dump->told += !err;
	return err;
}

static int stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stats_dump dump = { .skb = skb, .cb = cb, .skip = cb->args[0] };

	ats_each_port(sock_net(cb->skb->sk), stats_tell, &dump);
	cb->args[0] += dump.told;
	return skb->len;
}

/* ---- What has changed ---- */

/* A namespace that ends is not looked for any more: its interfaces have left it */
static struct net *net_get_by_cookie(u64 cookie)
{
	struct net *net, *found = NULL;

	rcu_read_lock();
	for_each_net_rcu(net) {
		if (net->net_cookie != cookie)
			continue;
		found = maybe_get_net(net);
		break;
	}
	rcu_read_unlock();
	return found;
}

static struct sk_buff *notification(const struct ats_port *port, const struct ats_local *local)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, 0, 0, &ats_family, 0, IB_ATS_CMD_RECORD_NTF);
	if (hdr && !message_end(skb, hdr, put_local(skb, dev_name(&port->ibdev->dev),
						    port->port, local)))
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/* Who cannot be told is told that he was not, as if his socket had overrun */
static void notify_net(struct net *net, const struct ats_port *port,
		       const struct ats_local *local)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&ats_family, net, ATS_NL_RECORDS))
		return;
	skb = notification(port, local);
	if (skb)
		genlmsg_multicast_netns(&ats_family, net, skb, 0, ATS_NL_RECORDS, GFP_KERNEL);
	else
		genl_set_err(&ats_family, net, 0, ATS_NL_RECORDS, -ENOBUFS);
}

/**
 * ats_netlink_notify() - tell a namespace of one of its interfaces' records
 * @port: where it is
 * @local: the record as it is now
 *
 * Context: may sleep.
 */
void ats_netlink_notify(const struct ats_port *port, const struct ats_local *local)
{
	struct net *net = net_get_by_cookie(local->net_cookie);

	if (!net)
		return;
	notify_net(net, port, local);
	put_net(net);
}

/* ---- The family ---- */

static const struct genl_ops ats_ops[] = {
	{
		.cmd = IB_ATS_CMD_RESOLVE,
		.policy = resolve_policy,
		.maxattr = ARRAY_SIZE(resolve_policy) - 1,
		.dumpit = resolve_dump,
		.done = resolve_done,
	},
	{
		.cmd = IB_ATS_CMD_LIST,
		.start = list_start,
		.dumpit = list_dump,
		.done = list_done,
	},
	{
		.cmd = IB_ATS_CMD_PRIMARY,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = primary_policy,
		.maxattr = ARRAY_SIZE(primary_policy) - 1,
		.doit = primary_do,
	},
	{
		.cmd = IB_ATS_CMD_AUDIT,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = audit_policy,
		.maxattr = ARRAY_SIZE(audit_policy) - 1,
		.doit = audit_do,
	},
	{
		.cmd = IB_ATS_CMD_STATS,
		.dumpit = stats_dump,
	},
};

static const struct genl_multicast_group ats_groups[] = {
	[ATS_NL_RECORDS] = { .name = IB_ATS_GENL_RECORDS },
};

/* Never loaded because somebody asks: that would have records registered */
static struct genl_family ats_family __ro_after_init = {
	.name = IB_ATS_GENL_NAME,
	.version = IB_ATS_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ats_ops,
	.n_ops = ARRAY_SIZE(ats_ops),
	.mcgrps = ats_groups,
	.n_mcgrps = ARRAY_SIZE(ats_groups),
};

/**
 * ats_netlink_init() - user space may ask
 *
 * To be called before there are ports, which tell of their records.
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int __init ats_netlink_init(void)
{
	return genl_register_family(&ats_family);
}

/**
 * ats_netlink_exit() - nobody asks any more; there are no ports any more
 *
 * Context: may sleep.
 */
void ats_netlink_exit(void)
{
	genl_unregister_family(&ats_family);
}
