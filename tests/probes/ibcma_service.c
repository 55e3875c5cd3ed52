// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: services, which accept all requests and send back all messages. A connection that the peer
 * has ended stays until the service ends, so that it can be inspected.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/rdma_cm_ib.h>

#include "ibcma.h"

/* A connection to a service */
struct ibcma_server {
	struct list_head list;
	struct ibcma_queue queue;
	struct rdma_cm_id *id;
	struct ibcma_service *service;
};

struct ibcma_service {
	struct ibcma_thing thing;
	struct rdma_cm_id *id;
	struct mutex lock;		/* protects servers */
	struct list_head servers;	/* the newest one first */
	atomic_t requests;
	atomic_t established;
	atomic_t messages;
};

/* Sends the message back to its sender */
static void server_received(struct ibcma_slot *slot, const struct ib_wc *wc)
{
	struct ibcma_queue *queue = slot->queue;
	struct ibcma_server *server = container_of(queue, struct ibcma_server, queue);
	struct ibprobe_target target = { .qpn = wc->src_qp, .qkey = RDMA_UDP_QKEY };

	atomic_inc(&server->service->messages);
	if (queue->qp->qp_type == IB_QPT_UD) {
		target.ah = ib_create_ah_from_wc(queue->end.pd, wc, slot->buf.data,
						 server->id->port_num);
		if (IS_ERR(target.ah)) {
			atomic_inc(&queue->errors);
			return;
		}
		slot->ah = target.ah;
	}
	if (ibcma_slot_send(slot, queue->offset, wc->byte_len - queue->offset, &target))
		atomic_inc(&queue->errors);
}

static int server_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct ibcma_server *server = id->context;

	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		atomic_inc(&server->service->established);
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		rdma_disconnect(id);
	return 0;
}

/* If this fails, the RDMA CM destroys the ID */
static int service_request(struct ibcma_service *service, struct rdma_cm_id *id)
{
	struct ibcma_server *server;
	struct rdma_conn_param param;
	int ret;

	atomic_inc(&service->requests);
	server = kzalloc(sizeof(*server), GFP_KERNEL);
	if (!server)
		return -ENOMEM;
	server->id = id;
	server->service = service;
	ret = ibcma_queue_of_id(&server->queue, id, server_received);
	if (ret)
		goto err_server;
	id->context = server;
	id->event_handler = server_event;
	param = ibcma_conn_param(id->qp);
	ret = rdma_accept(id, &param);
	if (ret)
		goto err_queue;
	mutex_lock(&service->lock);
	list_add(&server->list, &service->servers);
	mutex_unlock(&service->lock);
	return 0;

err_queue:
	ibcma_queue_end(&server->queue, id);
err_server:
	kfree(server);
	return ret;
}

static int service_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	return service_request(id->context, id);
}

static void server_free(struct ibcma_server *server)
{
	rdma_disconnect(server->id);
	ibcma_queue_end(&server->queue, server->id);
	rdma_destroy_id(server->id);
	kfree(server);
}

/* After the ID is destroyed, no further requests come */
static void service_free(struct ibcma_thing *thing)
{
	struct ibcma_service *service = container_of(thing, struct ibcma_service, thing);
	struct ibcma_server *server, *next;

	if (service->id)
		rdma_destroy_id(service->id);
	list_for_each_entry_safe(server, next, &service->servers, list)
		server_free(server);
	kfree(service);
}

static void service_show(struct seq_file *m, struct ibcma_thing *thing)
{
	struct ibcma_service *service = container_of(thing, struct ibcma_service, thing);
	struct ibcma_server *server;
	char dev[IFNAMSIZ] = "none";

	seq_printf(m, "%s requests %d established %d messages %d", thing->name,
		   atomic_read(&service->requests), atomic_read(&service->established),
		   atomic_read(&service->messages));
	mutex_lock(&service->lock);
	server = list_first_entry_or_null(&service->servers, struct ibcma_server, list);
	if (server) {
		ibcma_id_dev(server->id, dev);
		seq_printf(m, " dev %s address %pISc peer %pISc errors %d", dev,
			   &server->id->route.addr.src_addr, &server->id->route.addr.dst_addr,
			   atomic_read(&server->queue.errors));
	}
	mutex_unlock(&service->lock);
	seq_putc(m, '\n');
}

static const struct ibcma_kind service_kind = {
	.show = service_show,
	.free = service_free,
};

/**
 * ibcma_listen() - Create a service.
 * @params: the name, the address and the port of the service
 *
 * Context: process; the service is in its network namespace.
 * Return: 0 or a negative errno.
 */
int ibcma_listen(const struct ibcma_params *params)
{
	struct ibcma_service *service;
	int ret;

	if (!params->name || !params->address || !params->port)
		return -EINVAL;
	service = kzalloc(sizeof(*service), GFP_KERNEL);
	if (!service)
		return -ENOMEM;
	mutex_init(&service->lock);
	INIT_LIST_HEAD(&service->servers);
	ret = ibcma_id_create(params, params->ud, service_event, service, &service->id) ?:
	      rdma_bind_addr(service->id, (struct sockaddr *)&params->here) ?:
	      rdma_listen(service->id, IBCMA_SLOTS);
	if (ret)
		service_free(&service->thing);
	else
		ibcma_thing_add(&service->thing, params->name, &service_kind);
	return ret;
}
