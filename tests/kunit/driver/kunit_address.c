// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of link-layer addresses.
 */
#include "kunit.h"

static void address_layout(struct kunit *test)
{
	static const u8 wanted[INFINIBAND_ALEN] = {
		0x00, 0x12, 0x34, 0x56,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0x09,
	};
	struct ipoib_hwaddr hwaddr;
	union ib_gid gid;

	memset(&hwaddr, 0xff, sizeof(hwaddr));
	fixture_gid(&gid, 9);
	ipoib_hwaddr_build(&hwaddr, 0x123456, &gid);
	KUNIT_EXPECT_EQ(test, memcmp(&hwaddr, wanted, sizeof(wanted)), 0);
}

static void address_qpn(struct kunit *test)
{
	static const u32 qpns[] = { 0, 1, 0xff, 0x100, 0xabcdef, 0x800000, 0xffffff };
	struct ipoib_hwaddr hwaddr;
	union ib_gid gid;
	int i;

	fixture_gid(&gid, 1);
	for (i = 0; i < ARRAY_SIZE(qpns); i++) {
		ipoib_hwaddr_build(&hwaddr, qpns[i], &gid);
		KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(&hwaddr), qpns[i]);
		KUNIT_EXPECT_EQ(test, hwaddr.flags, 0);
		KUNIT_EXPECT_EQ(test, memcmp(hwaddr.gid, gid.raw, sizeof(gid)), 0);
	}
}

/* The first octet, which has connected mode's flags, is not part of the address */
static void address_flags(struct kunit *test)
{
	struct ipoib_hwaddr hwaddr = { .flags = 0xc0, .qpn = { 0x01, 0x02, 0x03 } };

	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(&hwaddr), 0x010203u);
}

static void address_multicast(struct kunit *test)
{
	union ib_gid gid;

	fixture_gid(&gid, 1);
	KUNIT_EXPECT_FALSE(test, ipoib_gid_is_multicast(gid.raw));
	gid.raw[0] = 0xff;
	KUNIT_EXPECT_TRUE(test, ipoib_gid_is_multicast(gid.raw));
}

static struct kunit_case address_cases[] = {
	KUNIT_CASE(address_layout),
	KUNIT_CASE(address_qpn),
	KUNIT_CASE(address_flags),
	KUNIT_CASE(address_multicast),
	{}
};

static struct kunit_suite address_suite = {
	.name = "ipoib_address",
	.test_cases = address_cases,
};

kunit_test_suites(&address_suite);
