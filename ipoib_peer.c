// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Decides which peers get a connection. A netdevice in connected mode opens one to a peer that
 * accepts connections when it has sent some packets to it, or one that is too long for a datagram.
 * Until the connection is established, and whenever there is none, datagrams are sent.
 *
 * A peer refers to its connection from the request until it is over. That it is over is noticed
 * when the next packet is sent to the peer. The next request follows at once if a connection that
 * worked was closed in order, and with increasing delays if the peer refuses, does not answer, or
 * does not acknowledge what is sent.
 *
 * An interface listens to one of two Service IDs, or to both. That of RFC 4755 is tried first. If
 * it is refused as invalid, the next request is for that of Linux and Windows, and so on in turn.
 * If the HCA has no SRQs, only the latter is tried.
 */
#include "ipoib.h"

/* A connection is opened when so many packets were sent to the peer */
#define PEER_PACKETS		8

/* After so many failures, some eight seconds, a peer is taken for one that has no connections.
 * Until then the senders of long packets are not told another MTU, which would be valid for
 * minutes.
 */
#define PEER_FAILURES		5

struct ipoib_peer {
	struct rhash_head node;		/* in ipoib_peers.table */
	struct ipoib_hwaddr hwaddr;	/* without flags */
	struct ipoib_conn __rcu *conn;	/* NULL if there is none; written with ipoib_peers.lock */
	unsigned long retry_at;		/* jiffies before which no connection is opened; the same */

	/* guarded by ipoib_peers.lock */
	struct list_head entry;		/* in ipoib_peers.list, least recently considered first */
	u64 service;			/* prefix of the Service ID to connect to */
	u32 packets;			/* sent since the last connection was over */
	u8 failures;			/* consecutive ones; read without the lock */
	bool reliable;			/* an unreliable connection has failed; only reliable ones
					 * are opened
					 */
	struct rcu_head rcu;
};

/* rhashtable_params.hashfn: peers differ in the GID, or in the QPN if they are on the same port */
static u32 peer_hash(const void *key, u32 len, u32 seed)
{
	const struct ipoib_hwaddr *hwaddr = key;

	return ipoib_gid_hash(hwaddr->gid, sizeof(hwaddr->gid), seed ^ ipoib_hwaddr_qpn(hwaddr));
}

static const struct rhashtable_params peer_params = {
	.hashfn = peer_hash,
	.key_len = sizeof_field(struct ipoib_peer, hwaddr),
	.key_offset = offsetof(struct ipoib_peer, hwaddr),
	.head_offset = offsetof(struct ipoib_peer, node),
	.automatic_shrinking = true,
};

static struct ipoib_conn *peer_conn(const struct ipoib_dev *priv, const struct ipoib_peer *peer)
{
	return rcu_dereference_protected(peer->conn, lockdep_is_held(&priv->peers.lock));
}

/* Removes a peer. The connection, if any, is closed. */
static void peer_remove(struct ipoib_dev *priv, struct ipoib_peer *peer)
{
	struct ipoib_conn *conn = peer_conn(priv, peer);

	rhashtable_remove_fast(&priv->peers.table, &peer->node, peer_params);
	/* Pairs with peer_lookup(), which must see the new count before the peer is freed */
	smp_store_release(&priv->peers.removals, priv->peers.removals + 1);
	list_del(&peer->entry);
	priv->peers.count--;
	if (conn)
		ipoib_conn_give_up(conn);
	kfree_rcu(peer, rcu);
}

static bool peer_is_idle(const struct ipoib_dev *priv, const struct ipoib_peer *peer)
{
	const struct ipoib_conn *conn = peer_conn(priv, peer);

	return !conn || ipoib_conn_is_over(conn);
}

/* Returns whether there is room for another peer, after removing one without a connection if need
 * be
 */
static bool peers_room(struct ipoib_dev *priv)
{
	struct ipoib_peers *peers = &priv->peers;
	struct ipoib_peer *peer;

	if (peers->count < IPOIB_PEERS_MAX)
		return true;
	list_for_each_entry(peer, &peers->list, entry) {
		if (!peer_is_idle(priv, peer))
			continue;
		peer_remove(priv, peer);
		return true;
	}
	return false;
}

/* A connection for both directions must be able to receive */
static u64 peer_first_service(const struct ipoib_dev *priv)
{
	return ipoib_srq_is_shared(priv->ibdev) ? IPOIB_SERVICE_ID_RFC : IPOIB_SERVICE_ID_LINUX;
}

static struct ipoib_peer *peer_create(struct ipoib_dev *priv, const struct ipoib_hwaddr *hwaddr)
{
	struct ipoib_peers *peers = &priv->peers;
	bool crowded = peers->count >= IPOIB_PEERS_MAX;
	struct ipoib_peer *peer;

	if (!peers_room(priv))
		return NULL;
	peer = kzalloc(sizeof(*peer), GFP_ATOMIC);
	if (!peer)
		return NULL;
	peer->hwaddr = *hwaddr;
	peer->service = peer_first_service(priv);
	peer->retry_at = jiffies;
	/* It may give way to another one before it gets a connection */
	if (crowded)
		peer->failures = PEER_FAILURES;
	if (rhashtable_insert_fast(&peers->table, &peer->node, peer_params)) {
		kfree(peer);
		return NULL;
	}
	list_add_tail(&peer->entry, &peers->list);
	peers->count++;
	return peer;
}

/* Decides when the next connection may be opened, now that one is over */
static void peer_conn_over(const struct ipoib_dev *priv, struct ipoib_peer *peer,
			   const struct ipoib_conn *conn)
{
	bool proven = conn->proven;
	bool other = conn->refusal == IB_CM_REJ_INVALID_SERVICE_ID;

	if (proven)
		peer->failures = 0;
	WRITE_ONCE(peer->retry_at, jiffies);
	if (other && peer->service == IPOIB_SERVICE_ID_RFC) {
		peer->service = IPOIB_SERVICE_ID_LINUX;
		return;
	}
	if (other)
		peer->service = peer_first_service(priv);
	if (conn->type == IB_QPT_UC && !conn->lived)
		peer->reliable = true;
	peer->packets = 0;
	if (!proven || test_bit(IPOIB_CONN_BROKEN, &conn->events))
		WRITE_ONCE(peer->retry_at, ipoib_retry_at(&peer->failures));
}

/* Returns the peer's connection that is not over yet, or NULL */
static struct ipoib_conn *peer_review(struct ipoib_dev *priv, struct ipoib_peer *peer)
{
	struct ipoib_conn *conn = peer_conn(priv, peer);

	if (!conn || !ipoib_conn_is_over(conn))
		return conn;
	peer_conn_over(priv, peer, conn);
	RCU_INIT_POINTER(peer->conn, NULL);
	ipoib_conn_put(conn);
	return NULL;
}

/* Returns whether it is time to open a connection, for a packet of this length */
static bool peer_is_due(struct ipoib_dev *priv, struct ipoib_peer *peer, u32 len)
{
	list_move_tail(&peer->entry, &priv->peers.list);
	if (time_before(jiffies, peer->retry_at))
		return false;
	return ++peer->packets >= PEER_PACKETS || len > READ_ONCE(priv->mtu) + IPOIB_HARD_LEN;
}

/* Chooses the type of a connection to a peer that accepts those of its flags */
static enum ib_qp_type peer_conn_type(const struct ipoib_dev *priv, const struct ipoib_peer *peer,
				      u8 flags)
{
	bool both_accept = flags & ipoib_cm_flags(priv) & IPOIB_FLAG_UC;

	return both_accept && !peer->reliable ? IB_QPT_UC : IB_QPT_RC;
}

static void peer_open(struct ipoib_dev *priv, struct ipoib_peer *peer, enum ib_qp_type type)
{
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct ipoib_conn *conn;

	/* If the path is not known yet, it is being looked up now */
	if (ipoib_path_record(priv, peer->hwaddr.gid, &path))
		return;
	conn = ipoib_conn_request(priv, &peer->hwaddr, type, peer->service, &path);
	if (!conn)
		WRITE_ONCE(peer->retry_at, ipoib_retry_at(&peer->failures));
	rcu_assign_pointer(peer->conn, conn);
}

/* Returns what a packet has to expect that cannot be sent by a connection now */
static struct ipoib_conn *peer_outlook(const struct ipoib_peer *peer)
{
	return READ_ONCE(peer->failures) < PEER_FAILURES ? ERR_PTR(-EINPROGRESS) : NULL;
}

/* @hwaddr is the packet's destination without the flags */
static struct ipoib_conn *peer_consider(struct ipoib_dev *priv, const struct ipoib_hwaddr *hwaddr,
					const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;
	struct ipoib_peer *peer;

	if (!priv->peers.on)
		return NULL;
	peer = rhashtable_lookup_fast(&priv->peers.table, hwaddr, peer_params);
	if (!peer)
		peer = peer_create(priv, hwaddr);
	if (!peer)
		return NULL;
	if (!peer_review(priv, peer) && peer_is_due(priv, peer, skb->len))
		peer_open(priv, peer, peer_conn_type(priv, peer, header->hwaddr.flags));
	return peer_outlook(peer);
}

/* Most packets are for the same peer as the packet before them. The cached peer is valid as long as
 * no peer has been removed since it was looked up. One that is removed after the check is not freed
 * before an RCU grace period has passed.
 */
static struct ipoib_peer *peer_lookup(struct ipoib_txq *tx, const struct ipoib_hwaddr *hwaddr)
{
	struct ipoib_peers *peers = &tx->priv->peers;
	/* Pairs with peer_remove(): a reader of its new count cannot find the removed peer */
	u32 removals = smp_load_acquire(&peers->removals);

	if (likely(tx->peer && tx->peer_removals == removals &&
		   ipoib_hwaddr_qpn(&tx->peer->hwaddr) == ipoib_hwaddr_qpn(hwaddr) &&
		   ipoib_gid_equal(tx->peer->hwaddr.gid, hwaddr->gid)))
		return tx->peer;
	tx->peer = rhashtable_lookup(&peers->table, hwaddr, peer_params);
	tx->peer_removals = removals;
	return tx->peer;
}

/**
 * ipoib_peer_conn() - find the connection for a packet, and open one if that is worth while
 * @tx: the TX queue that sends the packet
 * @skb: a unicast packet to an interface that accepts connections; begins with struct ipoib_header
 *
 * Context: BHs disabled, RCU read side, the lock of the TX queue held; the connection is valid as
 * long as the RCU read side.
 * Return: the connection, which accepted packets a moment ago; -EINPROGRESS if there may be one
 * soon; or NULL.
 */
struct ipoib_conn *ipoib_peer_conn(struct ipoib_txq *tx, const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;
	struct ipoib_hwaddr hwaddr = header->hwaddr;
	struct ipoib_conn *conn = NULL;
	struct ipoib_peer *peer;

	hwaddr.flags = 0;
	peer = peer_lookup(tx, &hwaddr);
	if (likely(peer))
		conn = rcu_dereference(peer->conn);
	if (likely(conn && ipoib_csq_is_open(&conn->sq)))
		return conn;
	if (peer && (conn ? !ipoib_conn_is_over(conn) :
			    time_before(jiffies, READ_ONCE(peer->retry_at))))
		return peer_outlook(peer);
	spin_lock(&tx->priv->peers.lock);
	conn = peer_consider(tx->priv, &hwaddr, skb);
	spin_unlock(&tx->priv->peers.lock);
	return conn;
}

/* Sets the flags of peers that connections are opened to */
static void peers_set_queues(struct ipoib_dev *priv, u8 connects)
{
	struct ipoib_channel *channel;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		WRITE_ONCE(channel->tx.connects, connects);
}

/**
 * ipoib_peers_start() - open connections to peers from now on
 * @priv: the device
 *
 * Context: rtnl held.
 */
void ipoib_peers_start(struct ipoib_dev *priv)
{
	spin_lock_bh(&priv->peers.lock);
	priv->peers.on = true;
	spin_unlock_bh(&priv->peers.lock);
	peers_set_queues(priv, ipoib_cm_flags(priv));
}

/**
 * ipoib_peers_stop() - open no more connections, and close those that were opened
 * @priv: the device; nothing happens if ipoib_peers_start() was not called
 *
 * Does not wait until they are closed.
 *
 * Context: rtnl held.
 */
void ipoib_peers_stop(struct ipoib_dev *priv)
{
	struct ipoib_peer *peer, *next;

	peers_set_queues(priv, 0);
	spin_lock_bh(&priv->peers.lock);
	priv->peers.on = false;
	list_for_each_entry_safe(peer, next, &priv->peers.list, entry)
		peer_remove(priv, peer);
	spin_unlock_bh(&priv->peers.lock);
}

/**
 * ipoib_peers_init() - prepare the table of peers
 * @priv: the device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_peers_init(struct ipoib_dev *priv)
{
	spin_lock_init(&priv->peers.lock);
	INIT_LIST_HEAD(&priv->peers.list);
	return rhashtable_init(&priv->peers.table, &peer_params);
}

/**
 * ipoib_peers_destroy() - free the table of peers
 * @priv: the device; ipoib_peers_stop() has returned
 *
 * Context: may sleep.
 */
void ipoib_peers_destroy(struct ipoib_dev *priv)
{
	rhashtable_destroy(&priv->peers.table);
}
