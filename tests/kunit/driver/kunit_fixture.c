// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fixture: a netdevice of the driver for the port of the simulated HCA,
 * with simulated fabric services. Each test has a fixture of its own, and fails
 * if objects are left when the fixture is destroyed.
 */
#include <linux/delay.h>
#include <linux/rtnetlink.h>
#include <net/sch_generic.h>

#include "kunit.h"

/* One more than the steps that fixture_settle() lists */
#define SETTLE_STEPS 6

static int netdev_make(struct fixture *fx)
{
	struct ipoib_dev *priv;
	int err;

	fx->netdev = alloc_netdev_mqs(sizeof(*priv), "kunit%d", NET_NAME_ENUM, ipoib_setup, 4, 1);
	if (!fx->netdev)
		return -ENOMEM;
	priv = ipoib_priv(fx->netdev);
	fx->priv = priv;
	priv->pkey = 0xffff;
	err = ipoib_bind(priv, fx->port);
	if (err)
		goto err_netdev;
	priv->queues.rx_size = FIXTURE_RX_RING;
	err = register_netdev(fx->netdev);
	if (err)
		goto err_netdev;
	return 0;

err_netdev:
	free_netdev(fx->netdev);
	return err;
}

static int init_with(struct kunit *test, struct device *dma_device)
{
	struct fixture *fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	int err;

	if (!fx)
		return -ENOMEM;
	fabric_init(&fx->fabric);
	fx->hca = hca_register_with(dma_device);
	if (!fx->hca)
		return -ENOMEM;
	fx->port = ipoib_port_create(&fx->hca->ibdev, 1, &fx->fabric.ops);
	if (IS_ERR(fx->port)) {
		err = PTR_ERR(fx->port);
		goto err_hca;
	}
	err = netdev_make(fx);
	if (err)
		goto err_port;
	test->priv = fx;
	return 0;

err_port:
	ipoib_port_destroy(fx->port);
err_hca:
	hca_unregister(fx->hca);
	return err;
}

/**
 * fixture_init() - a suite's init: create a fixture whose link is down, for kunit.priv
 * @test: the test
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init(struct kunit *test)
{
	return init_with(test, NULL);
}

/**
 * fixture_init_dma() - like fixture_init(), on an HCA with a DMA device
 * @test: the test
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init_dma(struct kunit *test)
{
	struct device *dma_device = dma_begin();
	int err;

	if (IS_ERR(dma_device))
		return PTR_ERR(dma_device);
	err = init_with(test, dma_device);
	if (err)
		dma_end();
	return err;
}

/**
 * fixture_exit() - a suite's exit: destroy the fixture, and expect that no object is left
 * @test: the test
 *
 * Context: may sleep.
 */
void fixture_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;
	LIST_HEAD(gone);

	if (!fx)
		return;
	atomic_set(&fx->hca->fail_in, 0);
	fx->hca->hold = false;
	rtnl_lock();
	ipoib_port_unregister(fx->port, &gone);
	unregister_netdevice_many(&gone);
	rtnl_unlock();
	ipoib_port_destroy(fx->port);
	flush_delayed_work(&fx->fabric.late);
	KUNIT_EXPECT_EQ(test, hca_leaks(fx->hca), 0);
	KUNIT_EXPECT_EQ(test, fabric_pending(&fx->fabric), 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.started), 0);
	hca_unregister(fx->hca);
	dma_end();
}

static bool qdisc_busy(struct net_device *netdev)
{
	struct netdev_queue *txq = netdev_get_tx_queue(netdev, 0);
	bool busy;

	rcu_read_lock();
	busy = qdisc_is_running(rcu_dereference(txq->qdisc)) ||
	       qdisc_qlen_sum(rcu_dereference(txq->qdisc));
	rcu_read_unlock();
	return busy;
}

/* Packets that waited for an AH are sent through the qdisc. linkwatch activates it some time after
 * the carrier is on, and BQL may make it wait for completions.
 */
static void wait_for_qdisc(struct fixture *fx)
{
	struct net_device *netdev = fx->netdev;
	unsigned long limit = jiffies + 30 * HZ;

	while (netif_running(netdev) && netif_carrier_ok(netdev) &&
	       (qdisc_tx_is_noop(netdev) || (!fx->hca->hold && qdisc_busy(netdev)))) {
		if (WARN(time_after(jiffies, limit), "the qdisc sent nothing for 30 s\n"))
			return;
		usleep_range(100, 200);
	}
}

/**
 * fixture_settle() - wait until the driver has nothing left to do
 * @fx: the fixture
 *
 * The longest chain of work items: a failed CQ is replaced (on the netdevices' workqueue),
 * the port is checked, the broadcast group is joined, the answer is processed (on the
 * device's workqueue), and the carrier is turned on (on the netdevices' workqueue).
 *
 * Context: may sleep, no locks held.
 */
void fixture_settle(struct fixture *fx)
{
	int step;

	for (step = 0; step < SETTLE_STEPS; step++) {
		flush_workqueue(fx->priv->wq);
		driver_settle();
	}
	wait_for_qdisc(fx);
}

/**
 * fixture_grace() - wait until unpublished objects are freed, unless they are in use
 * @fx: the fixture
 *
 * Context: may sleep, no locks held.
 */
void fixture_grace(struct fixture *fx)
{
	fixture_settle(fx);
	synchronize_rcu();
	/* Have the driver free unused AHs now instead of when its timer expires */
	mod_delayed_work(fx->priv->wq, &fx->priv->ahs.work, 0);
	fixture_settle(fx);
}

/**
 * fixture_up() - set the link up; on return it is running if the fabric answers
 * @test: the test
 *
 * Context: may sleep, no locks held.
 */
void fixture_up(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int err;

	rtnl_lock();
	err = dev_open(fx->netdev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	fixture_settle(fx);
}

/**
 * fixture_down() - set the link down
 * @fx: the fixture
 *
 * Context: may sleep, no locks held.
 */
void fixture_down(struct fixture *fx)
{
	rtnl_lock();
	dev_close(fx->netdev);
	rtnl_unlock();
	fixture_settle(fx);
}

/**
 * fixture_child_delete() - delete a child as the sysfs file does, and wait until it is gone
 * @fx: the fixture
 * @pkey: the child's P_Key
 *
 * Context: may sleep; rtnl is not held.
 * Return: what ipoib_child_delete() returned.
 */
int fixture_child_delete(struct fixture *fx, u16 pkey)
{
	int err;

	rtnl_lock();
	err = ipoib_child_delete(fx->priv, pkey);
	rtnl_unlock();
	flush_workqueue(ipoib_netdev_wq);
	return err;
}

/**
 * fixture_resize() - change the number and the size of the rings
 * @fx: the fixture
 * @tx_count: number of TX queues
 * @tx_size: packets in each send ring
 * @rx_size: packets in the receive ring
 *
 * Context: may sleep, no locks held.
 * Return: the return value of ipoib_netdev_resize().
 */
int fixture_resize(struct fixture *fx, u32 tx_count, u32 tx_size, u32 rx_size)
{
	int err;

	rtnl_lock();
	err = ipoib_netdev_resize(fx->priv, tx_count, tx_size, rx_size);
	rtnl_unlock();
	fixture_settle(fx);
	return err;
}

/**
 * fixture_gid() - build the port GID of a peer
 * @gid: filled in
 * @last: the last octet, which differs between peers and is also the peer's LID
 *
 * Context: any.
 */
void fixture_gid(union ib_gid *gid, u8 last)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[0] = 0xfe;
	gid->raw[1] = 0x80;
	gid->raw[8] = 0x02;
	gid->raw[15] = last;
}

/**
 * fixture_packet() - allocate a packet as the network stack passes it to the driver
 * @test: the test
 * @gid: the destination's GID; its QPN is 0xabcdef
 * @len: number of octets after the encapsulation header
 *
 * Context: may sleep.
 * Return: the packet.
 */
struct sk_buff *fixture_packet(struct kunit *test, const u8 *gid, u32 len)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb = alloc_skb(IPOIB_HARD_LEN + len, GFP_KERNEL);
	struct ipoib_header *header;
	union ib_gid address;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	memcpy(address.raw, gid, sizeof(address));
	header = skb_put_zero(skb, sizeof(*header));
	ipoib_hwaddr_build(&header->hwaddr, 0xabcdef, &address);
	header->encap.ethertype = htons(ETH_P_802_EX1);
	skb->protocol = header->encap.ethertype;
	memset(skb_put(skb, len), 0x5a, len);
	skb->dev = fx->netdev;
	return skb;
}

/**
 * fixture_send() - pass a packet to the driver, as a qdisc does
 * @fx: the fixture
 * @skb: the packet; consumed
 * @more: netdev_xmit_more(): another packet follows at once
 *
 * Context: process.
 */
void fixture_send(struct fixture *fx, struct sk_buff *skb, bool more)
{
	fixture_send_by(fx, 0, skb, more);
}

/**
 * fixture_send_by() - like fixture_send(), on a given TX queue
 * @fx: the fixture
 * @queue: the index of the queue
 * @skb: the packet; consumed
 * @more: netdev_xmit_more(): another packet follows at once
 *
 * Context: process.
 */
void fixture_send_by(struct fixture *fx, u16 queue, struct sk_buff *skb, bool more)
{
	struct netdev_queue *txq = netdev_get_tx_queue(fx->netdev, queue);

	skb_set_queue_mapping(skb, queue);
	local_bh_disable();
	HARD_TX_LOCK(fx->netdev, txq, smp_processor_id());
	netdev_start_xmit(skb, fx->netdev, txq, more);
	HARD_TX_UNLOCK(fx->netdev, txq);
	local_bh_enable();
	if (!fx->hca->hold)
		hca_wait(fx->hca);
}

/**
 * fixture_count() - read one of the driver's counters
 * @fx: the fixture
 * @stat: the counter
 *
 * Context: any.
 * Return: its value.
 */
u64 fixture_count(struct fixture *fx, enum ipoib_stat stat)
{
	return ipoib_stat_read(fx->priv, stat);
}

static void block_work(struct work_struct *work)
{
	wait_for_completion(&container_of(work, struct fixture_block, work)->over);
}

/**
 * fixture_block() - block the control path, i.e. the device's workqueue
 * @fx: the fixture
 * @block: the blocking work, on the caller's stack; to be passed to fixture_unblock()
 *
 * Context: may sleep.
 */
void fixture_block(struct fixture *fx, struct fixture_block *block)
{
	init_completion(&block->over);
	INIT_WORK_ONSTACK(&block->work, block_work);
	queue_work(fx->priv->wq, &block->work);
}

/**
 * fixture_unblock() - unblock the control path, and wait until all queued work is done
 * @fx: the fixture
 * @block: as passed to fixture_block()
 *
 * Context: may sleep.
 */
void fixture_unblock(struct fixture *fx, struct fixture_block *block)
{
	complete(&block->over);
	fixture_settle(fx);
	destroy_work_on_stack(&block->work);
}

/* Waits first for the poll that reports the first packet to BQL, possibly late on another CPU */
static int lift_queue_limit(struct dql *dql)
{
	unsigned long limit = jiffies + 30 * HZ;

	while (READ_ONCE(dql->num_completed) != READ_ONCE(dql->num_queued)) {
		if (time_after(jiffies, limit))
			return -ETIMEDOUT;
		usleep_range(100, 200);
	}
	dql->min_limit = 1 << 20;
	dql->limit = 1 << 20;
	dql->adj_limit = dql->num_completed + dql->limit;
	return 0;
}

/**
 * fixture_init_running() - a suite's init: the link runs, and the log of sends is empty
 * @test: the test
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init_running(struct kunit *test)
{
	struct fixture *fx;
	int err = fixture_init(test);

	if (err)
		return err;
	fx = test->priv;
	fixture_up(test);
	fx->hca->logged = 0;
	return fx->priv->link.state == IPOIB_LINK_RUNNING ? 0 : -ENETDOWN;
}

/**
 * fixture_init_unanswered() - like fixture_init_running(), but the fabric stops answering
 * @test: the test
 *
 * From then on requests are answered only by fabric_answer() and the like.
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init_unanswered(struct kunit *test)
{
	int err = fixture_init_running(test);
	struct fixture *fx = test->priv;

	if (!err)
		fx->fabric.answers = false;
	return err;
}

/**
 * fixture_group_retry() - let the back-off of a group expire
 * @fx: the fixture
 * @group: a group whose join failed
 */
void fixture_group_retry(struct fixture *fx, struct ipoib_group *group)
{
	group->dest.retry_at = jiffies;
	fx->priv->groups.dests.retry_at = jiffies;
	ipoib_groups_kick(fx->priv);
	fixture_settle(fx);
}

/**
 * fixture_init_sending() - a suite's init: the link runs and has a path to peer 9
 * @test: the test
 *
 * The log of sends is empty, and BQL does not limit the queue.
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init_sending(struct kunit *test)
{
	struct fixture *fx;
	union ib_gid gid;
	int err = fixture_init(test);

	if (err)
		return err;
	fx = test->priv;
	fixture_up(test);
	fixture_gid(&gid, 9);
	fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	if (fx->hca->logged != 1)
		return -ENETDOWN;
	err = lift_queue_limit(&netdev_get_tx_queue(fx->netdev, 0)->dql);
	fx->hca->logged = 0;
	fx->hca->doorbells = 0;
	return err;
}

/**
 * fixture_send_to() - send a packet to a peer, and wait until the control path has handled it
 * @test: the test
 * @last: the last octet of the peer's GID, see fixture_gid()
 *
 * Context: may sleep.
 */
void fixture_send_to(struct kunit *test, u8 last)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_gid(&gid, last);
	fixture_send(fx, fixture_packet(test, gid.raw, 100), false);
	fixture_settle(fx);
}

/**
 * fixture_answer() - answer the path query for a peer, which must be outstanding
 * @test: the test
 * @last: the last octet of the peer's GID
 * @status: the answer's status, 0 for a path
 *
 * Context: may sleep.
 */
void fixture_answer(struct kunit *test, u8 last, int status)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_gid(&gid, last);
	KUNIT_EXPECT_TRUE(test, fabric_answer(&fx->fabric, &gid, status));
	fixture_settle(fx);
}
