// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of an SA's answers: tables of several packets, and invalid ones. */
#include "kunit.h"

#define RECORD	((unsigned int)sizeof(struct ats_wire_record))

struct table {
	struct fake_answer answer;
	unsigned int count;		/* of records that were read */
	struct ats_record read[FAKE_SEGMENTS];
};

static void table_record(void *context, const struct ats_record *record)
{
	struct table *table = context;

	if (table->count < ARRAY_SIZE(table->read))
		table->read[table->count] = *record;
	table->count++;
}

/* Fills the table with records that have consecutive Service IDs */
static void table_fill(struct table *table, unsigned int count, unsigned int step)
{
	struct ats_record record = { .key = fake_key(1), .lease = ATS_LEASE_INFINITE };
	unsigned int i;

	fake_answer_init(&table->answer, count);
	for (i = 0; i < count; i++) {
		record.sid = ats_slot_sid(i);
		record.addr = fake_ip(i + 1);
		fake_answer_put(&table->answer, i * step, &record);
	}
	table->answer.mad[0].sa_hdr.attr_offset = cpu_to_be16(step / 8);
	table->answer.wc.mad_len = IB_MGMT_SA_HDR + count * step;
}

static int table_read(struct table *table)
{
	table->count = 0;
	return ats_table_each(&table->answer.wc, table_record, table);
}

/* Reads the table, and expects the first @count records of table_fill() */
static void table_expect(struct kunit *test, unsigned int count)
{
	struct table *table = test->priv;
	struct in6_addr ip;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, table_read(table), (int)count);
	KUNIT_ASSERT_EQ(test, table->count, count);
	for (i = 0; i < count; i++) {
		ip = fake_ip(i + 1);
		KUNIT_EXPECT_EQ(test, table->read[i].sid, ats_slot_sid(i));
		KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&table->read[i].addr, &ip));
		KUNIT_EXPECT_EQ(test, table->read[i].key.pkey, 0xffff);
	}
}

/* A packet has 200 octets of data and a record 176, so records span packets */
static void table_packets(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i <= FAKE_SEGMENTS; i++) {
		table_fill(test->priv, i, RECORD);
		table_expect(test, i);
	}
}

/* The attribute offset may exceed a record's length; the octets between records are skipped */
static void table_offsets(struct kunit *test)
{
	table_fill(test->priv, 3, RECORD + 8);
	table_expect(test, 3);
	table_fill(test->priv, 3, RECORD + 56);
	table_expect(test, 3);
	table_fill(test->priv, 2, 2 * RECORD);
	table_expect(test, 2);
}

/* SubnAdmGetResp has exactly one record; its AttributeOffset is ignored */
static void table_single(struct kunit *test)
{
	struct table *table = test->priv;

	table_fill(table, 1, RECORD);
	table->answer.mad[0].mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	table->answer.mad[0].sa_hdr.attr_offset = 0;
	table_expect(test, 1);
	table->answer.mad[0].sa_hdr.attr_offset = cpu_to_be16(1);
	table_expect(test, 1);
}

static void table_others(struct kunit *test)
{
	struct table *table = test->priv;

	table_fill(table, 1, RECORD);
	table->answer.mad[0].data[offsetof(struct ats_wire_record, name)] ^= 1;
	table_expect(test, 0);
	table_fill(table, 1, RECORD);
	table->answer.mad[0].data[offsetof(struct ats_wire_record, service_id)] ^= 1;
	table_expect(test, 0);
	table_fill(table, 2, RECORD);
	table->answer.mad[1].data[30] ^= 1;	/* the name */
	table_expect(test, 1);
}

static void table_senseless(struct kunit *test)
{
	struct table *table = test->priv;

	table_fill(table, 2, RECORD);
	table->answer.mad[0].sa_hdr.attr_offset = cpu_to_be16(RECORD / 8 - 1);
	KUNIT_EXPECT_EQ(test, table_read(table), -EPROTO);
	table->answer.mad[0].sa_hdr.attr_offset = cpu_to_be16(1);
	KUNIT_EXPECT_EQ(test, table_read(table), -EPROTO);
	KUNIT_EXPECT_EQ(test, table->count, 0u);
	/* An attribute offset of 0 means an empty table */
	table->answer.mad[0].sa_hdr.attr_offset = 0;
	table_expect(test, 0);
	table->answer.mad[0].sa_hdr.attr_offset = cpu_to_be16(0xffff);
	table_expect(test, 1);
}

/* Payload lengths that are wrong, and missing packets */
static void table_short(struct kunit *test)
{
	struct table *table = test->priv;
	int len;

	table_fill(table, 2, RECORD);
	for (len = -1; len <= IB_MGMT_SA_HDR + 2 * (int)RECORD; len++) {
		table->answer.wc.mad_len = len;
		table_expect(test, len < IB_MGMT_SA_HDR ? 0 : (len - IB_MGMT_SA_HDR) / RECORD);
	}
	table->answer.wc.mad_len = INT_MAX;
	list_del(&table->answer.more[2].list);
	list_del(&table->answer.more[1].list);
	list_del(&table->answer.more[0].list);
	table_expect(test, 1);
}

static int table_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct table), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_packets),
	KUNIT_CASE(table_offsets),
	KUNIT_CASE(table_single),
	KUNIT_CASE(table_others),
	KUNIT_CASE(table_senseless),
	KUNIT_CASE(table_short),
	{}
};

static struct kunit_suite table_suite = {
	.name = "ats_table",
	.init = table_init,
	.test_cases = table_cases,
};

kunit_test_suites(&table_suite);
