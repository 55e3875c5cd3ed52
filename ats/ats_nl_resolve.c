// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Questions of user space about who has an address. The request only begins the question.
 * When the answer is available, it is sent to the socket that asked, and charged to that
 * socket's receive buffer. A process that forks, stops or never reads thus delays only
 * itself. Closing a socket ends its questions.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "ats.h"

/* Records are put into messages of about this many octets */
#define ATS_NL_CHUNK	8192

/*
 * A question that has not ended. It stays here even if its socket is closed, so that users
 * cannot query faster by closing sockets.
 */
struct resolve {
	struct list_head list;		/* in resolves */
	bool closed;
	struct net *net;		/* of the socket; not valid if that is closed */
	u32 portid;
	u32 seq;
	kuid_t uid;
	u64 id;
};

static DEFINE_MUTEX(resolves_lock);	/* guards the list, and sending to a socket of it */
static LIST_HEAD(resolves);
static struct genl_family *resolve_family;

/* ---- Requests ---- */

/* What a question of each kind is about */
static const enum ib_ats_attr subjects[] = {
	[IB_ATS_KIND_ADDR] = IB_ATS_ATTR_ADDR,
	[IB_ATS_KIND_GID] = IB_ATS_ATTR_GID,
	[IB_ATS_KIND_PRIMARY] = IB_ATS_ATTR_GID,
	[IB_ATS_KIND_SID] = IB_ATS_ATTR_SID,
};

static_assert(ARRAY_SIZE(subjects) == IB_ATS_KIND_MAX + 1);

static int question_parse(struct ib_ats_question *question, struct nlattr **attrs,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *subject;

	if (attrs[IB_ATS_ATTR_KIND])
		question->kind = nla_get_u32(attrs[IB_ATS_ATTR_KIND]);
	if (attrs[IB_ATS_ATTR_PORT])
		question->port = nla_get_u32(attrs[IB_ATS_ATTR_PORT]);
	if (attrs[IB_ATS_ATTR_PKEY])
		question->pkey = nla_get_u16(attrs[IB_ATS_ATTR_PKEY]);
	if (attrs[IB_ATS_ATTR_TIMEOUT])
		question->timeout_ms = nla_get_u32(attrs[IB_ATS_ATTR_TIMEOUT]);
	subject = attrs[subjects[question->kind]];
	if (!subject) {
		NL_SET_ERR_MSG(extack, "Give what is to be found: ADDR, GID or SID, as KIND says");
		return -EINVAL;
	}
	if (question->kind == IB_ATS_KIND_ADDR)
		question->addr = nla_get_in6_addr(subject);
	else if (question->kind == IB_ATS_KIND_SID)
		question->sid = nla_get_u64(subject);
	else
		memcpy(&question->gid, nla_data(subject), sizeof(question->gid));
	return 0;
}

/* ---- Answers ---- */

static int put_answer(struct sk_buff *skb, const struct resolve *resolve,
		      const struct ib_ats_answer *answer)
{
	void *hdr = genlmsg_put(skb, resolve->portid, resolve->seq, resolve_family, 0,
				IB_ATS_CMD_RESOLVE_NTF);

	return hdr ? ats_nl_end(skb, hdr, ats_nl_put_record(skb, answer)) : -EMSGSIZE;
}

static int put_end(struct sk_buff *skb, const struct resolve *resolve, int err)
{
	void *hdr = genlmsg_put(skb, resolve->portid, resolve->seq, resolve_family, 0,
				IB_ATS_CMD_RESOLVE_NTF);

	if (!hdr)
		return -EMSGSIZE;
	return ats_nl_end(skb, hdr, nla_put_s32(skb, IB_ATS_ATTR_ERROR, err));
}

/* Messages for which the socket has no room are lost; netlink sets its error to ENOBUFS */
static void resolve_send(const struct resolve *resolve, int err,
			 const struct ib_ats_answer *answers, unsigned int count)
{
	struct sk_buff *skb;
	unsigned int i = 0;
	bool ended = false;

	while (!ended) {
		skb = nlmsg_new(ATS_NL_CHUNK, GFP_KERNEL);
		if (!skb)
			return;
		while (i < count && !put_answer(skb, resolve, &answers[i]))
			i++;
		ended = i == count && !put_end(skb, resolve, err);
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

/* ---- Questions ---- */

/* The bounds keep the list short enough to be counted each time */
static bool resolves_room(kuid_t uid)
{
	unsigned int all = 0, own = 0;
	const struct resolve *resolve;

	list_for_each_entry(resolve, &resolves, list) {
		all++;
		own += uid_eq(resolve->uid, uid);
	}
	if (own >= ats_max_user_questions)
		return false;
	/* The users together must not keep the administrator from asking */
	return all < ats_max_questions ||
	       ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/* All users of a user namespace count as the user who created it */
static kuid_t asker_uid(void)
{
	return current_user_ns() == &init_user_ns ? current_euid() : current_user_ns()->owner;
}

/* The lock is held until the question is in the list, from which resolve_ended() removes it */
static int resolve_begin(struct resolve *resolve, const struct ib_ats_question *question)
{
	int err = -EDQUOT;

	mutex_lock(&resolves_lock);
	if (resolves_room(resolve->uid))
		err = ats_ask(question, GFP_KERNEL_ACCOUNT, true, resolve_ended, resolve,
			      &resolve->id);
	if (!err)
		list_add_tail(&resolve->list, &resolves);
	mutex_unlock(&resolves_lock);
	return err;
}

/* The socket is not closed while it sends this request */
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
	err = resolve_begin(resolve, question);
	if (err)
		kfree(resolve);
	return err;
}

struct named_device {
	const char *name;
	struct ib_device *ibdev;
};

static int device_has_name(struct ats_port *port, void *arg)
{
	struct named_device *named = arg;

	if (strcmp(dev_name(&port->ibdev->dev), named->name))
		return 0;
	named->ibdev = port->ibdev;
	return 1;
}

/* Only the pointer is kept, and compared with those of the ports: no reference is held */
static int question_device(struct ib_ats_question *question, const struct nlattr *name)
{
	struct named_device named = {};

	if (!name)
		return 0;
	named.name = nla_data(name);
	ats_each_port(question->net, device_has_name, &named);
	question->ibdev = named.ibdev;
	return named.ibdev ? 0 : -ENODEV;
}

/**
 * ats_nl_resolve() - begin a question of a socket
 * @skb: the request
 * @info: its attributes and its socket
 *
 * Context: a handler of generic netlink; does not wait for an answer.
 * Return: 0 if the answer will be sent, or a negative error.
 */
int ats_nl_resolve(struct sk_buff *skb, struct genl_info *info)
{
	struct ib_ats_question question = { .net = genl_info_net(info) };
	int err;

	err = question_parse(&question, info->attrs, info->extack);
	if (err)
		return err;
	err = question_device(&question, info->attrs[IB_ATS_ATTR_DEVICE]);
	if (err) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[IB_ATS_ATTR_DEVICE],
				    "There is no such HCA that this namespace may use");
		return err;
	}
	err = resolve_ask(&question, info);
	if (err == -EINVAL && question.kind == IB_ATS_KIND_SID)
		NL_SET_ERR_MSG(info->extack,
			       "Give a Service ID from 0x10000ce100415400 to 0x10000ce1004154ff");
	else if (err == -EINVAL)
		NL_SET_ERR_MSG(info->extack, "Give an address other than the unspecified one");
	else if (err == -EDQUOT)
		NL_SET_ERR_MSG(info->extack,
			       "Too many questions are open; wait for the answers to some");
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

/**
 * ats_nl_resolve_init() - prepare for questions of user space
 * @family: the generic netlink family that sends the answers
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int __init ats_nl_resolve_init(struct genl_family *family)
{
	resolve_family = family;
	return netlink_register_notifier(&netlink_nb);
}

/**
 * ats_nl_resolve_exit() - wait for the end of all questions, when there are no ports any more
 *
 * The family has been unregistered, so no new questions begin.
 *
 * Context: may sleep.
 */
void ats_nl_resolve_exit(void)
{
	ats_ask_flush_users();
	netlink_unregister_notifier(&netlink_nb);
}
