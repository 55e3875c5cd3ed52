// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The port for the suites, and the functions that the files under test call. */
#include <linux/slab.h>

#include "kunit.h"

/* KUnit runs only one test at a time */
static struct fake_port *fake_now;

unsigned int ats_linger_ms;
unsigned int ats_max_in_flight;
unsigned int ats_max_queries = 2;
unsigned int ats_max_user_queries = 1;
unsigned int ats_netns_records = 4;
bool ats_foreign_partitions;
unsigned int ats_lease;
unsigned int ats_audit_interval = 600;
unsigned int ats_sa_timeout_ms = 1000;

static struct fake_port *fake_of(const struct ats_port *port)
{
	return container_of(port, struct fake_port, port);
}

/* ---- Engine operations for records, which are never answered ---- */

static int engine_send(struct ats_engine *engine, struct ats_set *set, unsigned int slot)
{
	return 0;
}

static int engine_read(struct ats_engine *engine, struct ats_set *set)
{
	ats_engine_read_end(engine, set, ATS_RESULT_CANCELLED, jiffies);
	return 0;
}

/* ---- Functions that the files under test call ---- */

/* The HCA's GID table has these GIDs */
int rdma_query_gid(struct ib_device *device, u32 port_num, int index, union ib_gid *gid)
{
	if (index >= FAKE_GIDS)
		return -EINVAL;
	*gid = fake_now->gids[index];
	return 0;
}

bool ats_netdev_has_gid(const union ib_gid *gid)
{
	return !memcmp(gid, &fake_now->gids[0], sizeof(*gid));
}

int ats_each_port(struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < fake_now->ports && !err; i++)
		err = act(&fake_now->port, arg);
	return err;
}

static void user_told(const struct ats_port *port, const struct ats_local *local)
{
	struct fake_port *fake = fake_of(port);

	if (fake->told_count < FAKE_LOG)
		fake->told[fake->told_count] = *local;
	fake->told_count++;
}

/* ---- The MAD layer, and the port's SM ---- */

struct fake_mad {
	struct ib_mad_send_buf buf;
	struct ib_sa_mad mad;
};

int ib_query_port(struct ib_device *device, u32 port_num, struct ib_port_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->state = IB_PORT_ACTIVE;
	attr->sm_lid = fake_now->sm_lid;
	fake_now->port_queries++;
	return 0;
}

int ib_find_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	*index = 0;
	return 0;
}

void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute)
{
	memcpy(attribute + FAKE_PATH_DGID, &rec->dgid, sizeof(rec->dgid));
	memcpy(attribute + FAKE_PATH_SGID, &rec->sgid, sizeof(rec->sgid));
	memcpy(attribute + FAKE_PATH_PKEY, &rec->pkey, sizeof(rec->pkey));
}

struct ib_mad_agent *ib_register_mad_agent(struct ib_device *device, u32 port_num,
					   enum ib_qp_type qp_type,
					   struct ib_mad_reg_req *mad_reg_req, u8 rmpp_version,
					   ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler, void *context,
					   u32 registration_flags)
{
	struct fake_port *fake = container_of(device, struct fake_port, ibdev);

	fake->agent.qp = &fake->qp;
	fake->agent.send_handler = send_handler;
	fake->agent.recv_handler = recv_handler;
	fake->agent.context = context;
	return &fake->agent;
}

void ib_unregister_mad_agent(struct ib_mad_agent *agent)
{
}

struct ib_mad_send_buf *ib_create_send_mad(struct ib_mad_agent *agent, u32 remote_qpn,
					   u16 pkey_index, int rmpp_active, int hdr_len,
					   int data_len, gfp_t gfp, u8 base_version)
{
	struct fake_mad *fake = kzalloc(sizeof(*fake), gfp);

	if (!fake)
		return ERR_PTR(-ENOMEM);
	fake->buf.mad = &fake->mad;
	return &fake->buf;
}

void ib_free_send_mad(struct ib_mad_send_buf *buf)
{
	kfree(container_of(buf, struct fake_mad, buf));
}

void ib_free_recv_mad(struct ib_mad_recv_wc *wc)
{
}

struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *attr, u32 flags)
{
	return &fake_now->ah;
}

int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata)
{
	return 0;
}

int ib_post_send_mad(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad)
{
	struct fake_posted *posted = &fake_now->posted[fake_now->posted_count];
	struct ats_request *request = buf->context[0];
	int err = fake_now->posted_count == FAKE_LOG ? -ENOSPC : fake_now->post_error;

	if (err)
		return err;
	posted->request = request;
	posted->sent = *request;
	posted->cancelled = false;
	fake_now->posted_count++;
	return 0;
}

/* Only called to cancel */
int ib_modify_mad(struct ib_mad_send_buf *buf, u32 timeout_ms)
{
	unsigned int i;

	for (i = 0; i < fake_now->posted_count; i++)
		if (fake_now->posted[i].request == buf->context[0])
			fake_now->posted[i].cancelled = true;
	return 0;
}

/* ---- Functions for the tests ---- */

/**
 * fake_run() - run the part of the port's work that handles queries
 * @fake: the port
 *
 * Context: process.
 */
void fake_run(struct fake_port *fake)
{
	bool hurry = test_and_clear_bit(ATS_EVENT_HURRY, &fake->port.events);

	fake->next = fake->now + MAX_JIFFY_OFFSET / 2;
	ats_query_run(&fake->port, hurry, fake->now, &fake->next);
}

/**
 * fake_waiting() - count the queries that the port has not sent yet
 * @fake: the port
 *
 * Context: may sleep.
 * Return: their number.
 */
size_t fake_waiting(struct fake_port *fake)
{
	size_t count;

	mutex_lock(&fake->port.mutex);
	count = list_count_nodes(&fake->port.queries[false]) +
		list_count_nodes(&fake->port.queries[true]);
	mutex_unlock(&fake->port.mutex);
	return count;
}

/**
 * fake_end() - end a request
 * @fake: the port
 * @number: the index of the request, in the order of posting
 * @result: the result of the request
 * @answer: the SA's answer, or NULL
 *
 * Context: process.
 */
void fake_end(struct fake_port *fake, unsigned int number, enum ats_result result,
	      struct fake_answer *answer)
{
	struct ats_request *request = fake->posted[number].request;

	KUNIT_ASSERT_LT(fake->test, number, fake->posted_count);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, request);
	fake->posted[number].request = NULL;
	request->answer = answer ? &answer->wc : NULL;
	request->done(&fake->port, request, result);
	ib_free_send_mad(request->mad);
	kfree(request);
}

static void fake_work(struct work_struct *work)
{
	struct fake_port *fake = container_of(to_delayed_work(work), struct fake_port, port.work);
	unsigned int i;

	if (!fake->threaded)
		return;
	mutex_lock(&fake->port.mutex);
	fake_run(fake);
	for (i = 0; i < fake->posted_count; i++)
		if (fake->posted[i].request && fake->posted[i].cancelled)
			fake_end(fake, i, ATS_RESULT_CANCELLED, NULL);
	mutex_unlock(&fake->port.mutex);
}

static void port_init(struct fake_port *fake)
{
	struct ats_port *port = &fake->port;

	fake->ibdev.dev.init_name = "fake0";
	fake->ibdev.port_data = fake->port_data;
	fake->port_data[1].immutable.gid_tbl_len = FAKE_GIDS;
	fake->port_data[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	port->ibdev = &fake->ibdev;
	port->port = 1;
	fake->sm_lid = 1;
	port->host_cookie = FAKE_HOST;
	mutex_init(&port->mutex);
	INIT_DELAYED_WORK(&port->work, fake_work);
	port->wq = system_wq;
	INIT_LIST_HEAD(&port->locals);
	ats_sa_start(port);
	ats_query_init(port);
	ats_audit_init(port);
	port->audit.ready = true;
	ats_max_in_flight = 2 * ATS_SIDS;
	port->engine.send = engine_send;
	port->engine.read = engine_read;
	INIT_LIST_HEAD(&port->engine.sets);
	port->engine.online = true;
}

/**
 * fake_port_init() - a suite's init: create a port that is in contact with an SA, for kunit.priv
 * @test: the test
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int fake_port_init(struct kunit *test)
{
	struct fake_port *fake = kvzalloc(sizeof(*fake), GFP_KERNEL);
	unsigned int i;
	int err;

	test->priv = fake;
	if (!fake)
		return -ENOMEM;
	fake->test = test;
	fake->ports = 1;
	ats_view_notify_user = user_told;
	err = ats_ask_init();
	if (err) {
		kvfree(fake);
		test->priv = NULL;
		return err;
	}
	for (i = 0; i < FAKE_DEVS; i++)
		fake->devs[i].net_cookie = FAKE_HOST;
	fake->gids[0] = fake_key(1).gid;
	fake_now = fake;
	port_init(fake);
	/* Must not be before the times that port_init() has set */
	fake->now = jiffies;
	return 0;
}

/**
 * fake_port_exit() - a suite's exit: free the port
 * @test: the test, with a port or NULL in kunit.priv
 *
 * Context: process.
 */
void fake_port_exit(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_set *set, *next;
	unsigned int i;

	if (!fake)
		return;
	flush_delayed_work(&fake->port.work);
	fake->port.stopped = true;
	for (i = 0; i < fake->posted_count; i++)
		if (fake->posted[i].request)
			fake_end(fake, i, ATS_RESULT_CANCELLED, NULL);
	fake_run(fake);
	ats_ask_exit();
	ats_local_drop_all(&fake->port);
	list_for_each_entry_safe(set, next, &fake->port.engine.sets, list)
		ats_set_destroy(set);
	kvfree(fake);
}

/**
 * fake_answer_init() - set up a valid table
 * @answer: filled in
 * @records: the number of records, which fake_answer_put() writes
 *
 * Context: any.
 */
void fake_answer_init(struct fake_answer *answer, unsigned int records)
{
	unsigned int i;

	memset(answer, 0, sizeof(*answer));
	INIT_LIST_HEAD(&answer->wc.rmpp_list);
	answer->wc.recv_buf.mad = (struct ib_mad *)&answer->mad[0];
	list_add_tail(&answer->wc.recv_buf.list, &answer->wc.rmpp_list);
	for (i = 1; i < FAKE_SEGMENTS; i++) {
		answer->more[i - 1].mad = (struct ib_mad *)&answer->mad[i];
		list_add_tail(&answer->more[i - 1].list, &answer->wc.rmpp_list);
	}
	answer->wc.mad_len = IB_MGMT_SA_HDR + records * sizeof(struct ats_wire_record);
	answer->mad[0].mad_hdr.method = IB_SA_METHOD_GET_TABLE_RESP;
	answer->mad[0].sa_hdr.attr_offset = cpu_to_be16(sizeof(struct ats_wire_record) / 8);
}

/**
 * fake_answer_create() - allocate a valid table for the duration of the test
 * @test: the test, which fails if there is no memory
 * @records: the number of records, which fake_answer_put() writes
 *
 * Context: process.
 * Return: the table.
 */
struct fake_answer *fake_answer_create(struct kunit *test, unsigned int records)
{
	struct fake_answer *answer = kunit_kzalloc(test, sizeof(*answer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, answer);
	fake_answer_init(answer, records);
	return answer;
}

/**
 * fake_answer_put() - write a record to an answer
 * @answer: the answer
 * @offset: the offset in octets in the data of all packets
 * @record: the record
 *
 * Context: any.
 */
void fake_answer_put(struct fake_answer *answer, unsigned int offset,
		     const struct ats_record *record)
{
	struct ats_wire_record wire;
	const u8 *octets = (const u8 *)&wire;
	unsigned int i, at;

	ats_record_encode(&wire, record);
	for (i = 0; i < sizeof(wire); i++) {
		at = offset + i;
		answer->mad[at / IB_MGMT_SA_DATA].data[at % IB_MGMT_SA_DATA] = octets[i];
	}
}

/**
 * fake_ip() - get an IPv4 address in the form of records
 * @number: the last octets of the address
 *
 * Context: any.
 * Return: the address.
 */
struct in6_addr fake_ip(unsigned int number)
{
	struct in6_addr ip;

	ipv6_addr_set(&ip, 0, 0, 0, cpu_to_be32(0x0a000000 | number));
	return ip;
}

/**
 * fake_key() - get a GID in the default partition
 * @guid: the last octet of the GID
 *
 * Context: any.
 * Return: the GID and P_Key.
 */
struct ats_key fake_key(u8 guid)
{
	struct ats_key key = { .pkey = 0xffff };

	key.gid.raw[0] = 0xfe;
	key.gid.raw[1] = 0x80;
	key.gid.raw[15] = guid;
	return key;
}

static void scan_dev(struct fake_port *fake, unsigned int index, struct list_head *locals)
{
	const struct fake_dev *dev = &fake->devs[index];
	struct ats_local *local;
	unsigned int i;

	for (i = 0; i < dev->count; i++) {
		local = kzalloc(sizeof(*local), GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, local);
		local->net_cookie = dev->net_cookie;
		local->ifindex = FAKE_IFINDEX + index;
		local->key = fake_key(dev->guid);
		local->ip = fake_ip(dev->first + i);
		local->choice = dev->first + i == dev->choice ? dev->chosen_at : 0;
		list_add_tail(&local->list, locals);
	}
}

/**
 * fake_scan() - pass the addresses of all netdevices to the port
 * @fake: the port
 *
 * Context: process.
 */
void fake_scan(struct fake_port *fake)
{
	LIST_HEAD(locals);
	unsigned int i;

	for (i = 0; i < FAKE_DEVS; i++)
		scan_dev(fake, i, &locals);
	ats_local_update(&fake->port, &locals);
}

/**
 * fake_has() - set the addresses of a netdevice, and scan
 * @fake: the port
 * @dev: index of the netdevice
 * @guid: as for fake_key()
 * @first: the first address, as for fake_ip()
 * @count: the number of addresses; 0: the netdevice is removed
 *
 * Context: process.
 */
void fake_has(struct fake_port *fake, unsigned int dev, u8 guid, unsigned int first,
	      unsigned int count)
{
	fake->devs[dev].guid = guid;
	fake->devs[dev].first = first;
	fake->devs[dev].count = count;
	fake_scan(fake);
}

/**
 * fake_local() - find the first netdevice's address
 * @fake: the port
 * @number: as for fake_ip()
 *
 * Context: process.
 * Return: the address; the test fails if there is none.
 */
struct ats_local *fake_local(struct fake_port *fake, unsigned int number)
{
	struct ats_local *local, *found = NULL;
	struct in6_addr ip = fake_ip(number);

	list_for_each_entry(local, &fake->port.locals, list)
		if (local->ifindex == FAKE_IFINDEX && ipv6_addr_equal(&local->ip, &ip))
			found = local;
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, found);
	return found;
}

/**
 * fake_set() - find the set of a GID
 * @fake: the port
 * @guid: as for fake_key()
 *
 * Context: process.
 * Return: the set; the test fails if there is none.
 */
struct ats_set *fake_set(struct fake_port *fake, u8 guid)
{
	struct ats_key key = fake_key(guid);
	struct ats_set *set = ats_engine_find(&fake->port.engine, &key);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, set);
	return set;
}
