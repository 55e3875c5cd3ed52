// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: the connecting end. Each line is one connection: it resolves the address, connects,
 * exchanges messages and disconnects.
 */
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "ibcma.h"

#define IBCMA_ASK	5000	/* in ms, to resolve an address or a route */
#define IBCMA_EVENTS	8	/* more than a connection has */

struct ibcma_event {
	enum rdma_cm_event_type type;
	int status;
};

/* The state of the connecting end */
struct ibcma_client {
	struct ibcma_queue queue;
	struct rdma_cm_id *id;
	struct ibcma_event events[IBCMA_EVENTS];	/* in the order in which they came */
	u32 came;			/* number of events, which the handler writes */
	u32 taken;			/* how many of them were taken for an answer */
	struct completion answered;	/* an event came */
	struct completion returned;	/* a message came back */
	u32 size;
};

/* The result of a connection, which the file "result" prints */
struct ibcma_result {
	const char *stage;
	int status;
	enum rdma_cm_event_type event;
	char dev[IFNAMSIZ];
	u32 sent;
	u32 received;
	u32 spoilt;
};

static DEFINE_MUTEX(connect_lock);	/* protects result, and serializes connections */
static struct ibcma_result result;

static void message_fill(u8 *to, u32 number, u32 size)
{
	u32 i;

	put_unaligned_be32(number, to);
	for (i = sizeof(number); i < size; i++)
		to[i] = number + i;
}

static bool message_right(const u8 *message, u32 number, u32 size)
{
	u32 i;

	if (get_unaligned_be32(message) != number)
		return false;
	for (i = sizeof(number); i < size; i++)
		if (message[i] != (u8)(number + i))
			return false;
	return true;
}

static void client_received(struct ibcma_slot *slot, const struct ib_wc *wc)
{
	struct ibcma_queue *queue = slot->queue;
	struct ibcma_client *client = container_of(queue, struct ibcma_client, queue);

	if (wc->byte_len - queue->offset != client->size ||
	    !message_right(slot->buf.data + queue->offset, result.received, client->size))
		result.spoilt++;
	if (ibcma_slot_receive(slot))
		atomic_inc(&queue->errors);
	result.received++;
	complete(&client->returned);
}

/* These come at any time and are not answers: the end of a connection's time-wait, and a change of
 * the interface, such as a bond's
 */
static bool is_answer(enum rdma_cm_event_type type)
{
	return type != RDMA_CM_EVENT_TIMEWAIT_EXIT && type != RDMA_CM_EVENT_ADDR_CHANGE;
}

/* The RDMA CM calls this for one event of an ID at a time */
static int client_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct ibcma_client *client = id->context;
	struct ibcma_event *kept;

	if (!is_answer(event->event) || client->came == IBCMA_EVENTS)
		return 0;
	kept = &client->events[client->came++];
	kept->type = event->event;
	kept->status = event->status;
	if (event->event == RDMA_CM_EVENT_ESTABLISHED && id->qp_type == IB_QPT_UD)
		kept->status = ibcma_queue_aim(&client->queue, &event->param.ud);
	complete(&client->answered);
	return 0;
}

/* Waits for the event that answers a request. Any other event is an error. */
static int client_answer(struct ibcma_client *client, enum rdma_cm_event_type wanted)
{
	const struct ibcma_event *event;

	if (!wait_for_completion_timeout(&client->answered, IBCMA_TIMEOUT))
		return -ETIMEDOUT;
	event = &client->events[client->taken++];
	result.event = event->type;
	if (event->type != wanted)
		return event->status < 0 ? event->status : -ECONNREFUSED;
	return event->status;
}

static int client_resolve(struct ibcma_client *client, const struct ibcma_params *params)
{
	struct sockaddr *from = params->address ? (struct sockaddr *)&params->here : NULL;
	int ret;

	result.stage = "address";
	ret = rdma_resolve_addr(client->id, from, (struct sockaddr *)&params->there, IBCMA_ASK) ?:
	      client_answer(client, RDMA_CM_EVENT_ADDR_RESOLVED);
	ibcma_id_dev(client->id, result.dev);
	if (ret)
		return ret;
	result.stage = "route";
	ret = rdma_resolve_route(client->id, IBCMA_ASK);
	return ret ?: client_answer(client, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* A message is sent when the previous one has come back */
static int client_exchange(struct ibcma_client *client, const struct ibcma_params *params)
{
	struct ibcma_slot *out = &client->queue.out;
	int ret;

	result.stage = "messages";
	while (result.sent < params->count) {
		ibprobe_buf_for_cpu(&out->buf);
		message_fill(out->buf.data, result.sent, params->size);
		ret = ibcma_slot_send(out, 0, params->size, &client->queue.target);
		if (ret)
			return ret;
		result.sent++;
		if (!wait_for_completion_timeout(&client->returned, IBCMA_TIMEOUT))
			return -ETIMEDOUT;
	}
	return result.spoilt || atomic_read(&client->queue.errors) ? -EPROTO : 0;
}

static int client_part(struct ibcma_client *client)
{
	int ret;

	if (client->id->qp_type == IB_QPT_UD)
		return 0;
	result.stage = "parting";
	ret = rdma_disconnect(client->id);
	return ret ?: client_answer(client, RDMA_CM_EVENT_DISCONNECTED);
}

static int client_talk(struct ibcma_client *client, const struct ibcma_params *params)
{
	struct rdma_conn_param param = ibcma_conn_param(client->id->qp);

	result.stage = "connection";
	return rdma_connect(client->id, &param) ?:
	       client_answer(client, RDMA_CM_EVENT_ESTABLISHED) ?:
	       client_exchange(client, params) ?:
	       client_part(client);
}

static int deaf_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/* After this, no event creates an AH any more */
static void client_deafen(struct ibcma_client *client)
{
	rdma_lock_handler(client->id);
	client->id->event_handler = deaf_event;
	rdma_unlock_handler(client->id);
}

static int client_run(struct ibcma_client *client, const struct ibcma_params *params)
{
	int ret;

	ret = client_resolve(client, params);
	if (ret)
		return ret;
	result.stage = "queue";
	ret = ibcma_queue_of_id(&client->queue, client->id, client_received);
	if (ret)
		return ret;
	ret = client_talk(client, params);
	client_deafen(client);
	ibcma_queue_end(&client->queue, client->id);
	return ret;
}

static int connect_locked(const struct ibcma_params *params)
{
	struct ibcma_client *client = kzalloc(sizeof(*client), GFP_KERNEL);
	int ret;

	if (!client)
		return -ENOMEM;
	memset(&result, 0, sizeof(result));
	result.stage = "id";
	client->size = params->size;
	init_completion(&client->answered);
	init_completion(&client->returned);
	ret = ibcma_id_create(params, params->ud, client_event, client, &client->id);
	if (ret)
		goto out;
	ret = client_run(client, params);
	rdma_destroy_id(client->id);
	if (!ret)
		result.stage = "done";
out:
	result.status = ret;
	kfree(client);
	return ret;
}

/**
 * ibcma_connect() - Connect, have messages sent back, and disconnect.
 * @params: the address and the port of the service, and the messages to send
 *
 * Context: process; the addresses are those of its network namespace.
 * Return: 0 or a negative errno.
 */
int ibcma_connect(const struct ibcma_params *params)
{
	int ret;

	if (!params->peer || !params->port)
		return -EINVAL;
	mutex_lock(&connect_lock);
	ret = connect_locked(params);
	mutex_unlock(&connect_lock);
	return ret;
}

/**
 * ibcma_result_show() - Print the result of the last connection.
 * @m: the debugfs file "result"
 * @v: not used
 *
 * Context: process.
 * Return: 0.
 */
int ibcma_result_show(struct seq_file *m, void *v)
{
	mutex_lock(&connect_lock);
	seq_printf(m, "status %d\nstage %s\nevent %s\ndev %s\nsent %u\nreceived %u\nspoilt %u\n",
		   result.status, result.stage ?: "none", rdma_event_msg(result.event),
		   result.dev, result.sent, result.received, result.spoilt);
	mutex_unlock(&connect_lock);
	return 0;
}
