// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of Service IDs, and of records compared with octets written down from the specification. */
#include <kunit/test.h>

#include "ats.h"

/* ATS table 1: ServiceID, ServiceGID, ServiceP_Key, reserved, lease, key, name, Data */
#define KEY_HEX		"fe80000000000000021bfa010000010280010000"
#define SERVICE_KEY_HEX	"00000000000000000000000000000000"
#define NAME_HEX	"4441504c2041646472657373205472616e736c6174696f6e2053657276696365" \
			"0000000000000000000000000000000000000000000000000000000000000000"
#define UNUSED_HEX	"00000000000000000000000000000000" \
			"00000000000000000000000000000000" \
			"00000000000000000000000000000000"

static const char ipv4_hex[] = "10000ce100415453" KEY_HEX "ffffffff" SERVICE_KEY_HEX NAME_HEX
			       "0000000000000000000000000a010203" UNUSED_HEX;
static const char ipv6_hex[] = "10000ce100415400" KEY_HEX "ffffffff" SERVICE_KEY_HEX NAME_HEX
			       "fd00000000000000000000000000abcd" UNUSED_HEX;
/* ATS tables 2 to 7 without the Service ID and the address: GID, P_Key, name */
static const char query_hex[] = "0000000000000000" KEY_HEX "00000000" SERVICE_KEY_HEX NAME_HEX
				"00000000000000000000000000000000" UNUSED_HEX;

static const struct ats_key record_key = {
	.gid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x1b, 0xfa, 0x01, 0, 0, 0x01, 0x02 },
	.pkey = 0x8001,
};

/* Fills in the record from hexadecimal digits */
static void from_hex(struct kunit *test, struct ats_wire_record *wire, const char *hex)
{
	KUNIT_ASSERT_EQ(test, strlen(hex), 2 * sizeof(*wire));
	KUNIT_ASSERT_EQ(test, hex2bin((u8 *)wire, hex, sizeof(*wire)), 0);
}

static void expect_hex(struct kunit *test, const struct ats_wire_record *wire, const char *hex)
{
	struct ats_wire_record wanted;

	from_hex(test, &wanted, hex);
	KUNIT_EXPECT_EQ(test, memcmp(wire, &wanted, sizeof(wanted)), 0);
}

static void record_sids(struct kunit *test)
{
	unsigned int slot;

	KUNIT_EXPECT_EQ(test, ats_slot_sid(0), 0x10000ce100415453ULL);
	KUNIT_EXPECT_EQ(test, ats_slot_sid(1), 0x10000ce100415454ULL);
	KUNIT_EXPECT_EQ(test, ats_slot_sid(172), 0x10000ce1004154ffULL);
	KUNIT_EXPECT_EQ(test, ats_slot_sid(173), 0x10000ce100415400ULL);
	KUNIT_EXPECT_EQ(test, ats_slot_sid(255), 0x10000ce100415452ULL);
	for (slot = 0; slot < 256; slot++)
		KUNIT_EXPECT_EQ(test, ats_sid_slot(ats_slot_sid(slot)), (int)slot);
	KUNIT_EXPECT_LT(test, ats_sid_slot(0x10000ce1004153ffULL), 0);
	KUNIT_EXPECT_LT(test, ats_sid_slot(0x10000ce100415500ULL), 0);
	KUNIT_EXPECT_LT(test, ats_sid_slot(0x1000ce100415453ULL), 0);
	KUNIT_EXPECT_LT(test, ats_sid_slot(0x10000ce101415453ULL), 0);
}

static void record_ipv4(struct kunit *test)
{
	struct ats_record record = {
		.key = record_key, .sid = 0x10000ce100415453ULL, .lease = 0xffffffff,
	}, read;
	struct ats_wire_record wire;

	ipv6_addr_set(&record.addr, 0, 0, 0, cpu_to_be32(0x0a010203));
	KUNIT_EXPECT_TRUE(test, ats_addr_is_ipv4(&record.addr));
	memset(&wire, 0xff, sizeof(wire));
	ats_record_encode(&wire, &record);
	expect_hex(test, &wire, ipv4_hex);
	KUNIT_ASSERT_EQ(test, ats_record_decode(&read, &wire), 0);
	KUNIT_EXPECT_EQ(test, read.sid, record.sid);
	KUNIT_EXPECT_EQ(test, read.lease, 0xffffffffu);
	KUNIT_EXPECT_EQ(test, read.key.pkey, 0x8001);
	KUNIT_EXPECT_EQ(test, memcmp(&read.key.gid, &record_key.gid, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&read.addr, &record.addr, 16), 0);
}

static void record_ipv6(struct kunit *test)
{
	struct ats_record record = {
		.key = record_key, .sid = ats_slot_sid(173), .lease = 0xffffffff,
		.addr.s6_addr = { 0xfd, [14] = 0xab, 0xcd },
	};
	struct ats_wire_record wire;

	KUNIT_EXPECT_FALSE(test, ats_addr_is_ipv4(&record.addr));
	ats_record_encode(&wire, &record);
	expect_hex(test, &wire, ipv6_hex);
}

static void record_query(struct kunit *test)
{
	struct ats_wire_record wire;

	memset(&wire, 0xff, sizeof(wire));
	ats_record_init(&wire, &record_key);
	expect_hex(test, &wire, query_hex);
}

/* The bits of a component mask are numbered like the components, including the reserved one */
static void record_masks(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ATS_MASK_SID | ATS_MASK_GID | ATS_MASK_PKEY, 0x7ULL);
	KUNIT_EXPECT_EQ(test, ATS_MASK_LEASE | ATS_MASK_KEY | ATS_MASK_NAME, 0x70ULL);
	KUNIT_EXPECT_EQ(test, ATS_MASK_DATA8, 0x7fff80ULL);
}

/* Records of other implementations are accepted; those of other services are not */
static void record_lenient(struct kunit *test)
{
	struct ats_wire_record wire;
	struct ats_record read;
	struct in6_addr ip;

	ipv6_addr_set(&ip, 0, 0, 0, cpu_to_be32(0x0a010203));
	from_hex(test, &wire, ipv4_hex);
	wire.data8[10] = 0xff;
	wire.data8[11] = 0xff;
	wire.key[3] = 7;
	wire.lease = cpu_to_be32(60);
	wire.service_id = cpu_to_be64(0x10000ce105415453ULL);
	KUNIT_ASSERT_EQ(test, ats_record_decode(&read, &wire), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&read.addr, &ip, sizeof(ip)), 0);
	KUNIT_EXPECT_EQ(test, read.lease, 60u);
	wire.service_id = cpu_to_be64(0x10000ce105415454ULL);
	KUNIT_EXPECT_LT(test, ats_record_decode(&read, &wire), 0);
	wire.service_id = cpu_to_be64(ATS_SID_PRIMARY);
	/* ATS section 2.3: octets that follow the name are ignored */
	wire.name[33] = '2';
	KUNIT_EXPECT_EQ(test, ats_record_decode(&read, &wire), 0);
	wire.name[33] = 0;
	wire.name[0] = 'd';
	KUNIT_EXPECT_LT(test, ats_record_decode(&read, &wire), 0);
}

static int ask_error(const struct ib_ats_question *question)
{
	u64 id;

	return ib_ats_ask(question, GFP_ATOMIC, NULL, NULL, &id);
}

/* Questions for records that cannot be */
static void record_senseless(struct kunit *test)
{
	struct ib_ats_question question = { .kind = IB_ATS_KIND_SID, .sid = ATS_SID_BASE - 1 };

	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.sid = ATS_SID_BASE + ATS_SIDS;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.kind = IB_ATS_KIND_ADDR;
	question.addr = in6addr_any;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.kind = IB_ATS_KIND_SID + 1;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
}

static struct kunit_case record_cases[] = {
	KUNIT_CASE(record_sids),
	KUNIT_CASE(record_ipv4),
	KUNIT_CASE(record_ipv6),
	KUNIT_CASE(record_query),
	KUNIT_CASE(record_masks),
	KUNIT_CASE(record_lenient),
	KUNIT_CASE(record_senseless),
	{}
};

static struct kunit_suite record_suite = {
	.name = "ats_record",
	.test_cases = record_cases,
};

kunit_test_suites(&record_suite);
