/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lookup of an RDMA device by its name.
 */
#ifndef _IBDEVICE_H
#define _IBDEVICE_H

#include <linux/mutex.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static DEFINE_MUTEX(ibdevice_mutex);		/* guards what follows */
static const char *ibdevice_wanted;
static struct ib_device *ibdevice_found;

static int ibdevice_add(struct ib_device *ibdev)
{
	if (!strcmp(dev_name(&ibdev->dev), ibdevice_wanted) && ib_device_try_get(ibdev))
		ibdevice_found = ibdev;
	return 0;
}

static void ibdevice_remove(struct ib_device *ibdev, void *data)
{
}

/**
 * ibdevice_get() - find an RDMA device by its name
 * @name: the name
 *
 * ib_core shows its devices to clients only, so a client is registered for as long as it takes.
 *
 * Context: may sleep.
 * Return: the device, for the caller to give back by ib_device_put(), or NULL.
 */
static inline struct ib_device *ibdevice_get(const char *name)
{
	struct ib_client client = {
		.name = KBUILD_MODNAME "-lookup",
		.add = ibdevice_add,
		.remove = ibdevice_remove,
	};
	struct ib_device *ibdev = NULL;

	mutex_lock(&ibdevice_mutex);
	ibdevice_wanted = name;
	ibdevice_found = NULL;
	if (!ib_register_client(&client)) {
		ib_unregister_client(&client);
		ibdev = ibdevice_found;
	}
	mutex_unlock(&ibdevice_mutex);
	return ibdev;
}

#endif /* _IBDEVICE_H */
