// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rules for packets. A rule drops, duplicates, delays or changes some of the packets that leave a
 * port or come in at it. Rules act on the cable: after the sending port has counted and captured a
 * packet, and before the receiving port does.
 */
#include <linux/bottom_half.h>
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ibfab.h"
#include "ibtool.h"

#define MILLION		1000000
#define ANY		U32_MAX
#define MAX_HELD	4096	/* packets that a rule holds back */
#define MAX_MS		60000

enum dir { DIR_IN, DIR_OUT };
enum what { WHAT_ANY, WHAT_SMP, WHAT_GMP, WHAT_SA_ANSWER, WHAT_DATA };

static const char * const dir_names[] = { "in", "out" };
static const char * const what_names[] = {
	"any", "smp", "gmp", "sa_answer", "data",
};

/**
 * struct rule_spec - A rule, as a line describes it
 * @port: port number
 * @dir: enum dir
 * @what: enum what
 * @act: what happens to a packet, an enum ibfab_fault below IBFAB_FAULT_RULES
 * @every: the rule hits each @every-th packet that it matches, unless @ppm is set
 * @ppm: the rule hits so many of a million matching packets, at random
 * @count: how often the rule hits, 0 for no limit
 * @ms: how long a packet is held at most, in milliseconds
 * @by: how many packets overtake a packet that is reordered
 * @opcode: opcode of the BTH, or ANY
 * @class: MgmtClass of a MAD, or ANY
 * @method: method of a MAD, or ANY
 * @attr: AttributeID of a MAD, or ANY
 * @at: offset in the payload at which it is overwritten, or from which on it is garbled
 * @size: how many bytes are overwritten: 1, 2 or 4
 * @value: the value that is written, or ANY to flip the lowest bit; for truncating and
 *	garbling, how many bytes to keep or to garble, or ANY for a random number
 */
struct rule_spec {
	u32 port;
	u32 dir;
	u32 what;
	u32 act;
	u32 every;
	u32 ppm;
	u32 count;
	u32 ms;
	u32 by;
	u32 opcode;
	u32 class;
	u32 method;
	u32 attr;
	u32 at;
	u32 size;
	u32 value;
};

/**
 * struct rule - A rule of a port
 * @node: in &ibfab_port_faults.rules
 * @port: the port
 * @id: its number, which lines use to remove it
 * @spec: what it does
 * @seen: how many packets it matched
 * @hits: how many packets it hit
 * @lock: protects @held and @num_held; no other lock is taken under it
 * @held: packets that are held back, oldest first
 * @num_held: how many there are
 * @timer: expires when the oldest is due
 */
struct rule {
	struct list_head node;
	struct ibfab_port *port;
	unsigned int id;
	struct rule_spec spec;
	atomic64_t seen;
	atomic64_t hits;
	spinlock_t lock;	/* guards held and num_held */
	struct list_head held;
	unsigned int num_held;
	struct timer_list timer;
};

/* A packet that is held back. @by is the number of packets that have yet to overtake it. */
struct held {
	struct list_head node;
	struct ibfab_pkt *pkt;
	unsigned long due;
	u32 by;
};

atomic_t ibfab_fault_users __read_mostly = ATOMIC_INIT(0);

/* Protects all lists of rules against changes, and next_id */
static DEFINE_MUTEX(rules_mutex);
static unsigned int next_id = 1;

/* Matching packets */

static const struct ib_mad_hdr *mad_of(const struct ibfab_hdrs *h)
{
	if (!h->deth || h->payload_len < sizeof(struct ib_mad_hdr) ||
	    (be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK) > 1)
		return NULL;
	return (const struct ib_mad_hdr *)h->payload;
}

static bool fits_what(u32 what, const struct ibfab_hdrs *h,
		      const struct ib_mad_hdr *mad)
{
	bool smp = ibfab_lrh_vl(h->lrh) == IBFAB_VL_SMP;

	switch (what) {
	case WHAT_SMP:
		return smp;
	case WHAT_GMP:
		return mad && !smp;
	case WHAT_SA_ANSWER:
		return mad && mad->mgmt_class == IB_MGMT_CLASS_SUBN_ADM &&
		       mad->method & IB_MGMT_METHOD_RESP;
	case WHAT_DATA:
		return !mad;
	default:
		return true;
	}
}

static bool fits_value(u32 wanted, u32 value)
{
	return wanted == ANY || wanted == value;
}

static bool fits_mad(const struct rule_spec *spec, const struct ib_mad_hdr *mad)
{
	if (spec->class == ANY && spec->method == ANY && spec->attr == ANY)
		return true;
	return mad && fits_value(spec->class, mad->mgmt_class) &&
	       fits_value(spec->method, mad->method) &&
	       fits_value(spec->attr, be16_to_cpu(mad->attr_id));
}

/* Whether the packet has the field that the rule changes */
static bool fits_act(const struct rule_spec *spec, const struct ibfab_hdrs *h,
		     const struct ib_mad_hdr *mad)
{
	u32 act = spec->act;

	if (act == IBFAB_FAULT_QKEY)
		return h->deth;
	if (act == IBFAB_FAULT_SGID)
		return h->grh;
	if (act == IBFAB_FAULT_STATUS)
		return mad && mad->method & IB_MGMT_METHOD_RESP;
	if (act == IBFAB_FAULT_TRUNCATE)
		return h->payload_len;
	if (act == IBFAB_FAULT_GARBLE)
		return h->payload_len > spec->at;
	if (act == IBFAB_FAULT_PUT)
		return h->payload_len >= spec->size && spec->at <= h->payload_len - spec->size;
	return true;
}

static bool fits(const struct rule_spec *spec, const struct ibfab_hdrs *h)
{
	const struct ib_mad_hdr *mad = mad_of(h);

	return fits_what(spec->what, h, mad) &&
	       fits_value(spec->opcode, h->bth->opcode) &&
	       fits_mad(spec, mad) && fits_act(spec, h, mad);
}

static bool chosen(struct rule *rule)
{
	u64 seen = atomic64_inc_return(&rule->seen);

	if (rule->spec.ppm)
		return (u64)get_random_u32() * MILLION >> 32 < rule->spec.ppm;
	return !(seen % rule->spec.every);
}

/* Whether a rule hits a packet that it matches. A hit is counted. */
static bool hit(struct rule *rule)
{
	u32 limit = rule->spec.count;

	if (!chosen(rule))
		return false;
	if (limit && !atomic64_add_unless(&rule->hits, 1, limit))
		return false;
	if (!limit)
		atomic64_inc(&rule->hits);
	ibfab_fault_count(rule->port, rule->spec.act);
	return true;
}

/* Holding packets back */

static void drop_no_memory(struct rule *rule, struct ibfab_pkt *pkt)
{
	ibfab_pkt_drop(pkt, rule->port, IBFAB_DROP_FAULT_NO_MEMORY);
}

/* A packet that is held back has no source any more, so it neither stops an engine nor refers to
 * one that goes away
 */
static void hold(struct rule *rule, struct ibfab_pkt *pkt)
{
	struct held *held = kmalloc(sizeof(*held), GFP_ATOMIC);
	unsigned long flags;

	if (!held || rule->num_held >= MAX_HELD) {
		kfree(held);
		drop_no_memory(rule, pkt);
		return;
	}
	pkt->source = NULL;
	held->pkt = pkt;
	held->by = rule->spec.by;
	spin_lock_irqsave(&rule->lock, flags);
	held->due = jiffies + msecs_to_jiffies(rule->spec.ms);
	list_add_tail(&held->node, &rule->held);
	if (!rule->num_held++)
		mod_timer(&rule->timer, held->due);
	spin_unlock_irqrestore(&rule->lock, flags);
}

/* The port at which a rule's packets arrive. Called under rcu_read_lock(). */
static struct ibfab_port *far_end(const struct rule *rule)
{
	return rule->spec.dir == DIR_IN ? rule->port :
					  ibfab_port_peer(rule->port);
}

static void let_go(struct rule *rule, struct list_head *list,
		   struct list_head *work)
{
	struct ibfab_port *in = far_end(rule);
	struct held *held, *tmp;

	list_for_each_entry_safe(held, tmp, list, node) {
		list_del(&held->node);
		if (in)
			ibfab_wire_arrive(in, held->pkt, work);
		else
			ibfab_pkt_drop(held->pkt, rule->port,
				       IBFAB_DROP_TX_NO_LINK);
		kfree(held);
	}
}

/* Moves the packets that are due to @list, or all packets */
static void take_due(struct rule *rule, struct list_head *list, bool all)
{
	struct held *held, *tmp;
	unsigned long flags;

	spin_lock_irqsave(&rule->lock, flags);
	list_for_each_entry_safe(held, tmp, &rule->held, node) {
		if (!all && time_before(jiffies, held->due)) {
			mod_timer(&rule->timer, held->due);
			break;
		}
		list_move_tail(&held->node, list);
		rule->num_held--;
	}
	spin_unlock_irqrestore(&rule->lock, flags);
}

static void hold_timer(struct timer_list *timer)
{
	struct rule *rule = timer_container_of(rule, timer, timer);
	LIST_HEAD(work);
	LIST_HEAD(list);

	take_due(rule, &list, false);
	rcu_read_lock();
	let_go(rule, &list, &work);
	ibfab_wire_run(&work);
	rcu_read_unlock();
}

/* A packet has passed a rule that reorders. Releases the packets that enough others have overtaken.
 */
static void overtaken(struct rule *rule, struct list_head *work)
{
	struct held *held, *tmp;
	unsigned long flags;
	LIST_HEAD(list);

	spin_lock_irqsave(&rule->lock, flags);
	list_for_each_entry_safe(held, tmp, &rule->held, node) {
		if (--held->by)
			continue;
		list_move_tail(&held->node, &list);
		rule->num_held--;
	}
	spin_unlock_irqrestore(&rule->lock, flags);
	let_go(rule, &list, work);
}

/* Changing packets */

/* How many of @len bytes to keep or to garble: the number given, or a random one */
static u32 part(const struct rule_spec *spec, u32 len)
{
	if (spec->value == ANY)
		return get_random_u32_below(len);
	return min(spec->value, len);
}

/* Each byte that is chosen changes, unless it is chosen twice */
static void garble(const struct rule_spec *spec, const struct ibfab_hdrs *h)
{
	u32 len = h->payload_len - spec->at;
	u32 octets = part(spec, len);

	while (octets--)
		h->payload[spec->at + get_random_u32_below(len)] ^=
			1 + get_random_u32_below(U8_MAX);
}

/* Corrects the lengths in the headers of a packet whose payload has become shorter */
static void put_lengths(struct ibfab_pkt *pkt, const struct ibfab_hdrs *h,
			u32 payload)
{
	u8 *data = pkt->frame->data, *old = (u8 *)h->lrh;
	struct ibfab_bth *bth = (void *)(data + ((u8 *)h->bth - old));
	u8 mask = IBFAB_BTH_PAD_MASK << IBFAB_BTH_PAD_SHIFT;
	struct ib_grh *grh = (void *)(data + IB_LRH_BYTES);
	unsigned int len = pkt->frame->len;

	ibfab_pkt_lrh(pkt)->pktlen = cpu_to_be16(len / 4);
	if (h->grh)
		grh->paylen = cpu_to_be16(len - IB_LRH_BYTES - IB_GRH_BYTES);
	bth->flags = (bth->flags & ~mask) | (-payload & 3) << IBFAB_BTH_PAD_SHIFT;
}

/* A copy of a packet that has only the first @kept bytes of the payload */
static struct ibfab_pkt *copy_cut(const struct ibfab_pkt *pkt,
				  const struct ibfab_hdrs *h, u32 kept)
{
	unsigned int used = h->payload - pkt->frame->data + kept;
	unsigned int len = ALIGN(used, 4) + IB_ICRC_BYTES;
	struct ibfab_pkt *copy = ibfab_pkt_copy(pkt, len);

	if (!copy)
		return NULL;
	memset(copy->frame->data + used, 0, len - used);
	put_lengths(copy, h, kept);
	return copy;
}

/* Forges the sender: the last four bytes of the GRH's SGID become those of the payload at offset
 * @at
 */
static void put_sgid(const struct ibfab_hdrs *h, u32 at)
{
	u8 *end = h->grh->sgid.raw + sizeof(h->grh->sgid) - sizeof(u32);

	if (at + sizeof(u32) <= h->payload_len)
		memcpy(end, h->payload + at, sizeof(u32));
}

/* Writes a value in network byte order */
static void put_value(const struct rule_spec *spec, u8 *at)
{
	switch (spec->size) {
	case 1:
		*at = spec->value;
		break;
	case 2:
		put_unaligned_be16(spec->value, at);
		break;
	default:
		put_unaligned_be32(spec->value, at);
	}
}

static void change(const struct rule_spec *spec, struct ibfab_hdrs *h)
{
	u32 value = spec->value;
	struct ib_mad_hdr *mad;

	switch (spec->act) {
	case IBFAB_FAULT_PKEY:
		h->bth->pkey = value == ANY ? h->bth->pkey ^ cpu_to_be16(1) :
					      cpu_to_be16(value);
		break;
	case IBFAB_FAULT_QKEY:
		h->deth->qkey = value == ANY ? h->deth->qkey ^ cpu_to_be32(1) :
					       cpu_to_be32(value);
		break;
	case IBFAB_FAULT_SGID:
		put_sgid(h, value);
		break;
	case IBFAB_FAULT_OPCODE:
		h->bth->opcode = value == ANY ? h->bth->opcode ^ 1 : value;
		break;
	case IBFAB_FAULT_STATUS:
		/* 15.2.1: a response with an error status has no records */
		mad = (struct ib_mad_hdr *)h->payload;
		mad->status = cpu_to_be16(value);
		memset(mad + 1, 0, h->payload_len - sizeof(*mad));
		break;
	case IBFAB_FAULT_GARBLE:
		garble(spec, h);
		break;
	case IBFAB_FAULT_PUT:
		put_value(spec, h->payload + spec->at);
		break;
	}
}

/* Returns a changed copy of a packet, because other packets may share the original's bytes */
static struct ibfab_pkt *changed(const struct rule_spec *spec,
				 const struct ibfab_pkt *pkt)
{
	struct ibfab_pkt *copy;
	struct ibfab_hdrs h;

	ibfab_pkt_parse(pkt, &h);
	if (spec->act == IBFAB_FAULT_TRUNCATE)
		return copy_cut(pkt, &h, part(spec, h.payload_len));
	copy = ibfab_pkt_copy(pkt, pkt->frame->len);
	if (!copy)
		return NULL;
	ibfab_pkt_parse(copy, &h);
	change(spec, &h);
	return copy;
}

static void arrive_changed(struct rule *rule, struct ibfab_port *in,
			   struct ibfab_pkt *pkt, struct list_head *work)
{
	struct ibfab_pkt *copy = changed(&rule->spec, pkt);

	if (!copy) {
		drop_no_memory(rule, pkt);
		return;
	}
	ibfab_pkt_free(pkt);
	ibfab_wire_arrive(in, copy, work);
}

static void arrive_twice(struct rule *rule, struct ibfab_port *in,
			 struct ibfab_pkt *pkt, struct list_head *work)
{
	struct ibfab_pkt *copy = ibfab_pkt_copy(pkt, pkt->frame->len);

	ibfab_wire_arrive(in, pkt, work);
	if (copy)
		ibfab_wire_arrive(in, copy, work);
	else
		atomic64_inc(&rule->port->drop[IBFAB_DROP_FAULT_NO_MEMORY]);
}

static void act(struct rule *rule, struct ibfab_port *in, struct ibfab_pkt *pkt,
		struct list_head *work)
{
	switch (rule->spec.act) {
	case IBFAB_FAULT_DROP:
		ibfab_pkt_drop(pkt, rule->port, IBFAB_DROP_FAULT);
		break;
	case IBFAB_FAULT_DUPLICATE:
		arrive_twice(rule, in, pkt, work);
		break;
	case IBFAB_FAULT_DELAY:
	case IBFAB_FAULT_REORDER:
		hold(rule, pkt);
		break;
	default:
		arrive_changed(rule, in, pkt, work);
	}
}

/* Finds the first rule of a port that hits a packet, and sets *@hits. If no rule hits it, returns
 * the first one that reorders and matches the packet, or NULL.
 */
static struct rule *find_rule(struct ibfab_port *port, enum dir dir,
			      const struct ibfab_hdrs *h, bool *hits)
{
	struct rule *rule, *first = NULL;

	list_for_each_entry_rcu(rule, &port->faults.rules, node) {
		if (rule->spec.dir != dir || !fits(&rule->spec, h))
			continue;
		*hits = hit(rule);
		if (*hits)
			return rule;
		/* A rule that reorders must be told of packets that pass */
		if (rule->spec.act == IBFAB_FAULT_REORDER)
			first = first ?: rule;
	}
	return first;
}

/**
 * ibfab_fault_cross() - Carry a packet over a cable whose ends may have rules.
 * @out: the port that it leaves by, whose rules come first
 * @in: the port at the other end
 * @pkt: the packet, which is consumed. Only the first rule that hits it is applied.
 * @work: packets that a switch at the other end forwards are added to this list
 *
 * Context: softirq, under rcu_read_lock().
 */
void ibfab_fault_cross(struct ibfab_port *out, struct ibfab_port *in,
		       struct ibfab_pkt *pkt, struct list_head *work)
{
	struct rule *rule, *passed;
	struct ibfab_hdrs h;
	bool hits = false;

	if (!ibfab_pkt_parse(pkt, &h)) {
		ibfab_wire_arrive(in, pkt, work);
		return;
	}
	passed = find_rule(out, DIR_OUT, &h, &hits);
	rule = passed;
	if (!hits)
		rule = find_rule(in, DIR_IN, &h, &hits);
	if (hits) {
		act(rule, in, pkt, work);
	} else {
		ibfab_wire_arrive(in, pkt, work);
		if (rule)
			overtaken(rule, work);
	}
	if (passed && passed != rule)
		overtaken(passed, work);
}

/* Adding and removing rules */

/* Whether the value fits into the field that the rule changes */
static bool value_valid(const struct rule_spec *spec)
{
	switch (spec->act) {
	case IBFAB_FAULT_PKEY:
		return spec->value <= U16_MAX || spec->value == ANY;
	case IBFAB_FAULT_OPCODE:
		return spec->value <= U8_MAX || spec->value == ANY;
	case IBFAB_FAULT_SGID:
	case IBFAB_FAULT_STATUS:
		return spec->value <= U16_MAX;
	case IBFAB_FAULT_PUT:
		return (spec->size == 1 && spec->value <= U8_MAX) ||
		       (spec->size == 2 && spec->value <= U16_MAX) || spec->size == 4;
	default:
		return true;
	}
}

static bool spec_valid(const struct ibfab_node *node,
		       const struct rule_spec *spec)
{
	return spec->port && spec->port <= node->num_ports &&
	       spec->act < IBFAB_FAULT_RULES && spec->every &&
	       spec->ppm <= MILLION && spec->ms <= MAX_MS && spec->by &&
	       value_valid(spec);
}

static int rule_add(struct ibfab_node *node, const struct rule_spec *spec)
{
	struct rule *rule;

	if (!spec_valid(node, spec))
		return -EINVAL;
	rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	if (!rule)
		return -ENOMEM;
	rule->port = &node->ports[spec->port];
	rule->spec = *spec;
	spin_lock_init(&rule->lock);
	INIT_LIST_HEAD(&rule->held);
	timer_setup(&rule->timer, hold_timer, 0);

	mutex_lock(&rules_mutex);
	rule->id = next_id++;
	list_add_tail_rcu(&rule->node, &rule->port->faults.rules);
	mutex_unlock(&rules_mutex);
	atomic_inc(&ibfab_fault_users);
	return 0;
}

/* Called with rules_mutex held. The packets that the rule holds back arrive. */
static void rule_remove(struct rule *rule)
{
	LIST_HEAD(work);
	LIST_HEAD(list);

	list_del_rcu(&rule->node);
	synchronize_rcu();
	timer_delete_sync(&rule->timer);
	take_due(rule, &list, true);
	local_bh_disable();
	rcu_read_lock();
	let_go(rule, &list, &work);
	ibfab_wire_run(&work);
	rcu_read_unlock();
	local_bh_enable();
	kfree(rule);
	atomic_dec(&ibfab_fault_users);
}

/* Removes the rule with a number, or all rules for ANY. Returns how many were removed. */
static unsigned int remove_rules(struct ibfab_node *node, u32 id)
{
	unsigned int i, n = 0;
	struct rule *rule, *tmp;

	mutex_lock(&rules_mutex);
	for (i = 0; i <= node->num_ports; i++) {
		list_for_each_entry_safe(rule, tmp,
					 &node->ports[i].faults.rules, node) {
			if (!fits_value(id, rule->id))
				continue;
			rule_remove(rule);
			n++;
		}
	}
	mutex_unlock(&rules_mutex);
	return n;
}

/**
 * ibfab_fault_clear() - Remove all rules of a node.
 * @node: the node
 *
 * Context: process; waits for grace periods.
 */
void ibfab_fault_clear(struct ibfab_node *node)
{
	remove_rules(node, ANY);
}

/* Lines */

#define WORD(member) IBTOOL_WORD(struct rule_spec, member, u32)
#define CHOICE(name, member, choices, num) \
	{ name, offsetof(struct rule_spec, member), NULL, choices, num }

static const struct ibtool_word words[] = {
	CHOICE("dir", dir, dir_names, ARRAY_SIZE(dir_names)),
	CHOICE("what", what, what_names, ARRAY_SIZE(what_names)),
	CHOICE("do", act, ibfab_fault_names, IBFAB_FAULT_RULES),
	WORD(port), WORD(every), WORD(ppm), WORD(count), WORD(ms), WORD(by), WORD(opcode),
	WORD(class), WORD(method), WORD(attr), WORD(at), WORD(size), WORD(value),
};

static int parse_rule(struct rule_spec *spec, char *line)
{
	*spec = (struct rule_spec) {
		.port = 1, .act = ANY, .every = 1, .ms = 100, .by = 1,
		.opcode = ANY, .class = ANY, .method = ANY, .attr = ANY,
		.size = 1, .value = ANY,
	};
	return ibtool_read_line(line, words, ARRAY_SIZE(words), spec);
}

static int rules_line(void *of, char *line)
{
	struct ibfab_node *node = of;
	struct rule_spec spec;
	u32 id = ANY;
	int ret;

	line = strim(line);
	if (strncmp(line, "clear", 5)) {
		ret = parse_rule(&spec, line);
		return ret ?: rule_add(node, &spec);
	}
	if (line[5]) {
		ret = kstrtou32(strim(line + 5), 0, &id);
		if (ret)
			return ret;
	}
	return remove_rules(node, id) || id == ANY ? 0 : -ENOENT;
}

static void show_word(struct seq_file *m, const struct ibtool_word *word,
		      const struct rule_spec *spec)
{
	u32 value = *(const u32 *)((const char *)spec + word->offset);

	if (word->choices)
		seq_printf(m, " %s=%s", word->name, word->choices[value]);
	else if (value && value != ANY)
		seq_printf(m, " %s=%u", word->name, value);
}

/* "3 dir=in what=any do=drop port=1 every=10 ms=100 by=1 seen 57 hits 5 held 0" */
static void show_rule(struct seq_file *m, const struct rule *rule)
{
	unsigned int i;

	seq_printf(m, "%u", rule->id);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		show_word(m, &words[i], &rule->spec);
	seq_printf(m, " seen %lld hits %lld held %u\n",
		   atomic64_read(&rule->seen), atomic64_read(&rule->hits),
		   READ_ONCE(rule->num_held));
}

static int rules_show(struct seq_file *m, void *v)
{
	struct ibfab_node *node = m->private;
	const struct rule *rule;
	unsigned int i;

	mutex_lock(&rules_mutex);
	for (i = 0; i <= node->num_ports; i++)
		list_for_each_entry(rule, &node->ports[i].faults.rules, node)
			show_rule(m, rule);
	mutex_unlock(&rules_mutex);
	return 0;
}

DEFINE_IBTOOL_SHOW_LINES(rules);

/**
 * ibfab_fault_add_node() - Create the file for the rules of a node.
 * @node: the node
 * @dir: its debugfs folder
 *
 * Context: process.
 */
void ibfab_fault_add_node(struct ibfab_node *node, struct dentry *dir)
{
	debugfs_create_file("rules", 0600, dir, node, &rules_fops);
}
