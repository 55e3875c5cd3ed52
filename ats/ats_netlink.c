// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The generic netlink family: user space lists the records of its namespace's interfaces,
 * chooses primary addresses, and asks who has an address. No handler waits for an SA, since
 * that would delay everybody who registers a family.
 *
 * The request of a question only begins it. When the answer is available, it is sent to the
 * socket that asked, and charged to that socket's receive buffer. A process that forks, stops
 * or never reads thus delays only itself. Closing a socket ends its questions.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "ats.h"

static unsigned int max_questions = 512;
module_param(max_questions, uint, 0644);
MODULE_PARM_DESC(max_questions, "Questions that user space may have open at a time");

static unsigned int max_user_questions = 32;
module_param(max_user_questions, uint, 0644);
MODULE_PARM_DESC(max_user_questions, "Questions that one user may have open at a time");

/* The multicast groups of the family */
#define ATS_NL_RECORDS	0

static struct genl_family ats_family;

/* ---- Common parts of messages ---- */

static void *message_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &ats_family,
				NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/* Ends a message, or removes it again if an attribute, or even the header, did not fit */
static int message_end(struct sk_buff *skb, void *hdr, bool failed)
{
	if (!failed) {
		genlmsg_end(skb, hdr);
		return 0;
	}
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* Like all functions of this kind, returns true if it does not fit */
static bool put_port(struct sk_buff *skb, const char *device, u32 port)
{
	return nla_put_string(skb, IB_ATS_ATTR_DEVICE, device) ||
	       nla_put_u32(skb, IB_ATS_ATTR_PORT, port);
}

/* A record, and the port through which it is known */
static bool put_record(struct sk_buff *skb, const struct ib_ats_answer *record)
{
	return put_port(skb, record->device, record->port) ||
	       nla_put(skb, IB_ATS_ATTR_GID, sizeof(record->gid), &record->gid) ||
	       nla_put_u16(skb, IB_ATS_ATTR_PKEY, record->pkey) ||
	       nla_put_in6_addr(skb, IB_ATS_ATTR_ADDR, &record->addr) ||
	       (record->sid && nla_put_u64_64bit(skb, IB_ATS_ATTR_SID, record->sid,
						 IB_ATS_ATTR_PAD)) ||
	       (record->primary && nla_put_flag(skb, IB_ATS_ATTR_IS_PRIMARY));
}

/* ---- Records of a namespace ---- */

static bool put_local(struct sk_buff *skb, const struct ats_port *port,
		      const struct ats_local *local)
{
	u64 age = jiffies64_to_msecs(jiffies - local->since);
	struct ib_ats_answer record;

	ats_view_record(port, local, &record);
	return put_record(skb, &record) ||
	       nla_put_s32(skb, IB_ATS_ATTR_IFINDEX, local->ifindex) ||
	       (local->chosen && nla_put_flag(skb, IB_ATS_ATTR_IS_CHOICE)) ||
	       nla_put_u32(skb, IB_ATS_ATTR_STATE, local->state) ||
	       nla_put_u64_64bit(skb, IB_ATS_ATTR_AGE, age, IB_ATS_ATTR_PAD) ||
	       (local->refusal && nla_put_u16(skb, IB_ATS_ATTR_REFUSAL, local->refusal)) ||
	       (!rdma_is_zero_gid(&local->rival) &&
		nla_put(skb, IB_ATS_ATTR_RIVAL, sizeof(local->rival), &local->rival));
}

/* An iteration over records or ports: a filter, and the message that receives the results */
struct walk {
	struct sk_buff *skb;
	struct netlink_callback *cb;	/* args[0]: results sent so far; NULL: this is no dump */
	struct nlattr **attrs;
	const struct net *net;
	unsigned int at;		/* number of the next result */
};

static int walk_dump(struct sk_buff *skb, struct netlink_callback *cb, struct net *ports_of,
		     int (*act)(struct ats_port *port, void *arg))
{
	struct walk walk = {
		.skb = skb,
		.cb = cb,
		.attrs = genl_info_dump(cb)->attrs,
		.net = sock_net(cb->skb->sk),
	};

	cb->seq = atomic_read(&ats_view_version);
	ats_each_port(ports_of, act, &walk);
	return skb->len;
}

static bool attr_is_not(const struct nlattr *attr, u32 number)
{
	return attr && nla_get_u32(attr) != number;
}

static bool port_wanted(const struct ats_port *port, struct nlattr **attrs)
{
	const struct nlattr *device = attrs[IB_ATS_ATTR_DEVICE];

	return !(device && nla_strcmp(device, dev_name(&port->ibdev->dev))) &&
	       !attr_is_not(attrs[IB_ATS_ATTR_PORT], port->port);
}

static bool local_wanted(const struct ats_local *local, struct nlattr **attrs)
{
	struct in6_addr ip = local->ip;

	ats_addr_to_mapped(&ip);
	return !attr_is_not(attrs[IB_ATS_ATTR_IFINDEX], local->ifindex) &&
	       !(attrs[IB_ATS_ATTR_PKEY] &&
		 nla_get_u16(attrs[IB_ATS_ATTR_PKEY]) != local->key.pkey) &&
	       !(attrs[IB_ATS_ATTR_ADDR] &&
		 nla_memcmp(attrs[IB_ATS_ATTR_ADDR], &ip, sizeof(ip)));
}

static int record_visit(struct walk *walk, const struct ats_port *port,
			const struct ats_local *local)
{
	void *hdr;
	int err;

	if (!local->told || local->net_cookie != walk->net->net_cookie ||
	    !local_wanted(local, walk->attrs))
		return 0;
	if (!walk->cb)
		return put_local(walk->skb, port, local) ? -EMSGSIZE : 1;
	if (walk->at++ < walk->cb->args[0])
		return 0;
	hdr = message_begin(walk->skb, walk->cb, IB_ATS_CMD_RECORD_GET);
	err = message_end(walk->skb, hdr, !hdr || put_local(walk->skb, port, local));
	walk->cb->args[0] += !err;
	return err;
}

static int record_port(struct ats_port *port, void *arg)
{
	const struct ats_local *local;
	struct walk *walk = arg;
	int err = 0;

	if (!port_wanted(port, walk->attrs))
		return 0;
	mutex_lock(&port->mutex);
	list_for_each_entry(local, &port->locals, list) {
		err = record_visit(walk, port, local);
		if (err)
			break;
	}
	mutex_unlock(&port->mutex);
	return err;
}

static int record_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return walk_dump(skb, cb, NULL, record_port);
}

static int record_do(struct sk_buff *request, struct genl_info *info)
{
	struct walk walk = {
		.attrs = info->attrs,
		.net = genl_info_net(info),
	};
	void *hdr;

	if (GENL_REQ_ATTR_CHECK(info, IB_ATS_ATTR_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, IB_ATS_ATTR_ADDR))
		return -EINVAL;
	walk.skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!walk.skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(walk.skb, info, &ats_family, 0, IB_ATS_CMD_RECORD_GET);
	if (ats_each_port(NULL, record_port, &walk) == 1) {
		genlmsg_end(walk.skb, hdr);
		return genlmsg_reply(walk.skb, info);
	}
	nlmsg_free(walk.skb);
	NL_SET_ERR_MSG(info->extack, "No such address is registered for the interface");
	return -ENOENT;
}

/* ---- Requests of the administrator ---- */

static int primary_do(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *ifindex = info->attrs[IB_ATS_ATTR_IFINDEX];
	const struct nlattr *addr = info->attrs[IB_ATS_ATTR_ADDR];
	struct in6_addr ip;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, IB_ATS_ATTR_IFINDEX))
		return -EINVAL;
	if (addr) {
		ip = nla_get_in6_addr(addr);
		ats_addr_from_mapped(&ip);
	}
	err = ats_netdev_choose(genl_info_net(info), nla_get_s32(ifindex), addr ? &ip : NULL);
	if (err == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex, "There is no such interface here");
	if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex, "Give an interface of InfiniBand");
	if (err == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG_ATTR(info->extack, addr,
				    "Give an address of this interface that can be registered");
	return err;
}

static int audit_port(struct ats_port *port, void *arg)
{
	struct walk *walk = arg;

	if (!port_wanted(port, walk->attrs) ||
	    !ats_local_on_port(port, ats_local_guest(port, walk->net), 0))
		return 0;
	walk->at++;
	ats_port_event(port, ATS_EVENT_AUDIT);
	return 0;
}

static int audit_do(struct sk_buff *skb, struct genl_info *info)
{
	struct walk walk = {
		.attrs = info->attrs,
		.net = genl_info_net(info),
	};

	ats_each_port(NULL, audit_port, &walk);
	if (walk.at)
		return 0;
	NL_SET_ERR_MSG(info->extack, "No interface here has addresses on such a port");
	return -ENODEV;
}

/* ---- Counters of ports ---- */

static bool put_counters(struct sk_buff *skb, const u64 *count)
{
	struct nlattr *nest = nla_nest_start(skb, IB_ATS_ATTR_COUNTERS);
	unsigned int i;

	if (!nest)
		return true;
	for (i = IB_ATS_COUNTER_SETS; i < IB_ATS_COUNTER_PAD; i++)
		if (nla_put_u64_64bit(skb, i, count[i], IB_ATS_COUNTER_PAD))
			return true;
	nla_nest_end(skb, nest);
	return false;
}

static int stats_port(struct ats_port *port, void *arg)
{
	struct walk *walk = arg;
	void *hdr;
	int err;

	if (!port_wanted(port, walk->attrs) || walk->at++ < walk->cb->args[0])
		return 0;
	hdr = message_begin(walk->skb, walk->cb, IB_ATS_CMD_STATS_GET);
	mutex_lock(&port->mutex);
	err = message_end(walk->skb, hdr, !hdr ||
			  put_port(walk->skb, dev_name(&port->ibdev->dev), port->port) ||
			  nla_put_u32(walk->skb, IB_ATS_ATTR_SA, ats_view_sa(port)) ||
			  put_counters(walk->skb, port->engine.count));
	mutex_unlock(&port->mutex);
	walk->cb->args[0] += !err;
	return err;
}

static int stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return walk_dump(skb, cb, sock_net(cb->skb->sk), stats_port);
}

/* ---- Notifications ---- */

/* A namespace that is being deleted is not found: its interfaces have left it */
static struct net *net_get_by_cookie(u64 cookie)
{
	struct net *net, *found = NULL;

	rcu_read_lock();
	for_each_net_rcu(net)
		if (net->net_cookie == cookie)
			found = maybe_get_net(net);
	rcu_read_unlock();
	return found;
}

/* Without memory, listeners get the same error as after an overrun */
static void records_notify(struct net *net, const struct ats_port *port,
			   const struct ats_local *local)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr = skb ? genlmsg_put(skb, 0, 0, &ats_family, 0, IB_ATS_CMD_RECORD_NTF) : NULL;

	if (hdr && !message_end(skb, hdr, put_local(skb, port, local))) {
		genlmsg_multicast_netns(&ats_family, net, skb, 0, ATS_NL_RECORDS, GFP_KERNEL);
		return;
	}
	nlmsg_free(skb);
	genl_set_err(&ats_family, net, 0, ATS_NL_RECORDS, -ENOBUFS);
}

/* Called by a port's work, or by that of ats_netdev.c for an address that is gone */
static void netlink_notify(const struct ats_port *port, const struct ats_local *local)
{
	struct net *net = net_get_by_cookie(local->net_cookie);

	if (!net)
		return;
	if (genl_has_listeners(&ats_family, net, ATS_NL_RECORDS))
		records_notify(net, port, local);
	put_net(net);
}

/*
 * A question that has not ended. It stays here even if its socket is closed, so that users
 * cannot query faster by closing sockets.
 */
struct resolve {
	struct list_head list;		/* in resolves */
	bool closed;
	struct net *net;		/* of the socket; only compared if that is closed */
	u32 portid;
	u32 seq;
	kuid_t uid;
	u64 id;
};

static DEFINE_MUTEX(resolves_lock);	/* guards the list, and sending to a socket of it */
static LIST_HEAD(resolves);

/* ---- Questions ---- */

/* What a question of each kind is about */
static const enum ib_ats_attr subjects[] = {
	[IB_ATS_KIND_ADDR] = IB_ATS_ATTR_ADDR,
	[IB_ATS_KIND_GID] = IB_ATS_ATTR_GID,
	[IB_ATS_KIND_PRIMARY] = IB_ATS_ATTR_GID,
	[IB_ATS_KIND_SID] = IB_ATS_ATTR_SID,
};

static_assert(ARRAY_SIZE(subjects) == IB_ATS_KIND_MAX + 1);

static int question_parse(struct ib_ats_question *question, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *subject;

	if (attrs[IB_ATS_ATTR_KIND])
		question->kind = nla_get_u32(attrs[IB_ATS_ATTR_KIND]);
	if (attrs[IB_ATS_ATTR_DEVICE])
		nla_strscpy(question->device, attrs[IB_ATS_ATTR_DEVICE], sizeof(question->device));
	if (attrs[IB_ATS_ATTR_PORT])
		question->port = nla_get_u32(attrs[IB_ATS_ATTR_PORT]);
	if (attrs[IB_ATS_ATTR_PKEY])
		question->pkey = nla_get_u16(attrs[IB_ATS_ATTR_PKEY]);
	if (attrs[IB_ATS_ATTR_TIMEOUT])
		question->timeout_ms = nla_get_u32(attrs[IB_ATS_ATTR_TIMEOUT]);
	subject = attrs[subjects[question->kind]];
	if (GENL_REQ_ATTR_CHECK(info, subjects[question->kind]))
		return -EINVAL;
	if (question->kind == IB_ATS_KIND_ADDR)
		question->addr = nla_get_in6_addr(subject);
	else if (question->kind == IB_ATS_KIND_SID)
		question->sid = nla_get_u64(subject);
	else
		memcpy(&question->gid, nla_data(subject), sizeof(question->gid));
	return 0;
}

/* ---- Answers ---- */

/* Puts an answer or, as the last message, the error */
static int resolve_put(struct sk_buff *skb, const struct resolve *resolve, int err,
		       const struct ib_ats_answer *answer)
{
	void *hdr = genlmsg_put(skb, resolve->portid, resolve->seq, &ats_family, 0,
				IB_ATS_CMD_RESOLVE_NTF);

	if (answer)
		return message_end(skb, hdr, !hdr || put_record(skb, answer));
	return message_end(skb, hdr, !hdr || nla_put_s32(skb, IB_ATS_ATTR_ERROR, err));
}

/* Messages for which the socket has no room are lost; netlink sets its error to ENOBUFS */
static void resolve_send(const struct resolve *resolve, int err,
			 const struct ib_ats_answer *answers, unsigned int count)
{
	struct sk_buff *skb;
	unsigned int i = 0;
	bool ended = false;

	while (!ended) {
		skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
		if (!skb)
			return;
		while (i < count && !resolve_put(skb, resolve, err, &answers[i]))
			i++;
		ended = i == count && !resolve_put(skb, resolve, err, NULL);
		if (genlmsg_unicast(resolve->net, skb, resolve->portid))
			return;
	}
}

static void resolve_ended(void *context, int err, const struct ib_ats_answer *answers,
			  unsigned int count)
{
	struct resolve *resolve = context;

	mutex_lock(&resolves_lock);
	list_del(&resolve->list);
	if (!resolve->closed)
		resolve_send(resolve, err, answers, count);
	mutex_unlock(&resolves_lock);
	kfree(resolve);
}

/* ---- The bounds of questions ---- */

/*
 * Adds a question, if there is room for one more. The administrator is not bounded: users must
 * not be able to use up those questions. Containers that root has made are told apart by their
 * network namespaces. Those of other users are not, as a user may make any number of them.
 */
static bool resolve_admit(struct resolve *resolve)
{
	unsigned int all = 0, own = 0;
	const struct resolve *other;
	bool room;

	mutex_lock(&resolves_lock);
	list_for_each_entry(other, &resolves, list) {
		all++;
		own += uid_eq(other->uid, resolve->uid) &&
		       (other->net == resolve->net || !uid_eq(resolve->uid, GLOBAL_ROOT_UID));
	}
	room = ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN) ||
	       (own < max_user_questions && all < max_questions);
	if (room)
		list_add_tail(&resolve->list, &resolves);
	mutex_unlock(&resolves_lock);
	return room;
}

/* All users of a user namespace, and of those made in it, count as the user who created it */
static kuid_t asker_uid(void)
{
	const struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return current_euid();
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns->owner;
}

/*
 * The socket is not closed while it sends this request, and the question is in the list before
 * it can end. No memory is allocated under the lock: whoever closes a socket of generic netlink
 * takes it, and a full memory control group delays an allocation.
 */
static int resolve_ask(const struct ib_ats_question *question, struct genl_info *info)
{
	struct resolve *resolve = kzalloc(sizeof(*resolve), GFP_KERNEL_ACCOUNT);
	int err;

	if (!resolve)
		return -ENOMEM;
	resolve->net = genl_info_net(info);
	resolve->portid = info->snd_portid;
	resolve->seq = info->snd_seq;
	resolve->uid = asker_uid();
	if (!resolve_admit(resolve)) {
		kfree(resolve);
		return -EDQUOT;
	}
	err = ats_ask(question, GFP_KERNEL_ACCOUNT, true, resolve_ended, resolve, &resolve->id);
	if (err) {
		resolve->closed = true;
		resolve_ended(resolve, err, NULL, 0);
	}
	return err;
}

/* Does not wait for the answer */
static int resolve_do(struct sk_buff *skb, struct genl_info *info)
{
	struct ib_ats_question question = { .net = genl_info_net(info) };
	int err;

	err = question_parse(&question, info);
	if (err)
		return err;
	err = resolve_ask(&question, info);
	if (err == -EINVAL && question.kind == IB_ATS_KIND_SID)
		NL_SET_ERR_MSG(info->extack, "Give a Service ID from 0x10000ce100415400 to ...4ff");
	else if (err == -EINVAL)
		NL_SET_ERR_MSG(info->extack, "Give an address other than the unspecified one");
	else if (err == -EDQUOT)
		NL_SET_ERR_MSG(info->extack, "Too many questions are open; wait for some answers");
	return err;
}

/* ---- Sockets that are closed ---- */

static int netlink_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *closed = data;
	struct resolve *resolve;

	if (event != NETLINK_URELEASE || closed->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	mutex_lock(&resolves_lock);
	list_for_each_entry(resolve, &resolves, list) {
		if (resolve->closed || resolve->portid != closed->portid ||
		    !net_eq(resolve->net, closed->net))
			continue;
		resolve->closed = true;
		ats_ask_cancel(resolve->id);
	}
	mutex_unlock(&resolves_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netlink_nb = { .notifier_call = netlink_event };

/* ---- The family ---- */

static struct netlink_range_validation timeout_range = {
	.min = 1,
	.max = 60000,
};

static const struct nla_policy ats_policy[IB_ATS_ATTR_TIMEOUT + 1] = {
	[IB_ATS_ATTR_KIND] = NLA_POLICY_MAX(NLA_U32, IB_ATS_KIND_MAX),
	[IB_ATS_ATTR_DEVICE] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[IB_ATS_ATTR_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
	[IB_ATS_ATTR_IFINDEX] = NLA_POLICY_MIN(NLA_S32, 1),
	[IB_ATS_ATTR_GID] = NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[IB_ATS_ATTR_PKEY] = NLA_POLICY_MIN(NLA_U16, 1),
	[IB_ATS_ATTR_ADDR] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[IB_ATS_ATTR_SID] = { .type = NLA_U64 },
	[IB_ATS_ATTR_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &timeout_range),
};

static const struct genl_ops ats_ops[] = {
	{
		.cmd = IB_ATS_CMD_RESOLVE,
		.doit = resolve_do,
	},
	{
		.cmd = IB_ATS_CMD_RECORD_GET,
		.doit = record_do,
		.dumpit = record_dump,
	},
	{
		.cmd = IB_ATS_CMD_PRIMARY_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = primary_do,
	},
	{
		.cmd = IB_ATS_CMD_AUDIT,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = audit_do,
	},
	{
		.cmd = IB_ATS_CMD_STATS_GET,
		.dumpit = stats_dump,
	},
};

static const struct genl_multicast_group ats_groups[] = {
	[ATS_NL_RECORDS] = { .name = IB_ATS_GENL_RECORDS },
};

/* Not loaded on demand of a request, since loading registers records */
static struct genl_family ats_family __ro_after_init = {
	.name = IB_ATS_GENL_NAME,
	.version = IB_ATS_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.policy = ats_policy,
	.maxattr = ARRAY_SIZE(ats_policy) - 1,
	.module = THIS_MODULE,
	.ops = ats_ops,
	.n_ops = ARRAY_SIZE(ats_ops),
	.mcgrps = ats_groups,
	.n_mcgrps = ARRAY_SIZE(ats_groups),
};

/**
 * ats_netlink_init() - allow questions, and register the family
 *
 * To be called before there are ports, since they send notifications.
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int __init ats_netlink_init(void)
{
	int err = ats_ask_init();

	if (err)
		return err;
	/* Fails only for what is registered already */
	netlink_register_notifier(&netlink_nb);
	ats_view_notify_user = netlink_notify;
	err = genl_register_family(&ats_family);
	if (err) {
		netlink_unregister_notifier(&netlink_nb);
		ats_ask_exit();
	}
	return err;
}

/**
 * ats_netlink_exit() - unregister the family, when there are no ports any more
 *
 * Waits for the end of all questions.
 *
 * Context: may sleep.
 */
void ats_netlink_exit(void)
{
	genl_unregister_family(&ats_family);
	ats_ask_exit();
	netlink_unregister_notifier(&netlink_nb);
}
