// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: prints the result of a run, with a name and a value on each line. Errors and events are
 * printed only if there are any.
 */
#include <linux/seq_file.h>

#include "ibrc.h"

struct ibrc_name {
	u32 value;
	const char *name;
};

static const struct ibrc_name spoilt_names[] = {
	{ IBRC_SPOILT_CONTENTS, "contents" },
	{ IBRC_SPOILT_BEYOND, "beyond" },
	{ IBRC_SPOILT_LENGTH, "length" },
	{ IBRC_SPOILT_IMM, "imm" },
	{ IBRC_SPOILT_ORDER, "order" },
	{ IBRC_SPOILT_WC, "wc" },
};

#define STATUS(name) { IB_WC_##name, #name }

static const struct ibrc_name status_names[] = {
	STATUS(SUCCESS), STATUS(LOC_LEN_ERR), STATUS(LOC_QP_OP_ERR),
	STATUS(LOC_EEC_OP_ERR), STATUS(LOC_PROT_ERR), STATUS(WR_FLUSH_ERR),
	STATUS(MW_BIND_ERR), STATUS(BAD_RESP_ERR), STATUS(LOC_ACCESS_ERR),
	STATUS(REM_INV_REQ_ERR), STATUS(REM_ACCESS_ERR), STATUS(REM_OP_ERR),
	STATUS(RETRY_EXC_ERR), STATUS(RNR_RETRY_EXC_ERR),
	STATUS(LOC_RDD_VIOL_ERR), STATUS(REM_INV_RD_REQ_ERR),
	STATUS(REM_ABORT_ERR), STATUS(INV_EECN_ERR),
	STATUS(INV_EEC_STATE_ERR), STATUS(FATAL_ERR),
	STATUS(RESP_TIMEOUT_ERR), STATUS(GENERAL_ERR),
};

#define EVENT(name) { IB_EVENT_##name, #name }

static const struct ibrc_name event_names[] = {
	EVENT(CQ_ERR), EVENT(QP_FATAL), EVENT(QP_REQ_ERR),
	EVENT(QP_ACCESS_ERR), EVENT(COMM_EST), EVENT(SQ_DRAINED),
	EVENT(PATH_MIG), EVENT(PATH_MIG_ERR), EVENT(DEVICE_FATAL),
	EVENT(PORT_ACTIVE), EVENT(PORT_ERR), EVENT(LID_CHANGE),
	EVENT(PKEY_CHANGE), EVENT(SM_CHANGE), EVENT(SRQ_ERR),
	EVENT(SRQ_LIMIT_REACHED), EVENT(QP_LAST_WQE_REACHED),
	EVENT(CLIENT_REREGISTER), EVENT(GID_CHANGE), EVENT(WQ_FATAL),
};

#define CM_EVENT(name) { IB_CM_##name, #name }

static const struct ibrc_name cm_event_names[] = {
	CM_EVENT(REQ_ERROR), CM_EVENT(REQ_RECEIVED), CM_EVENT(REP_ERROR),
	CM_EVENT(REP_RECEIVED), CM_EVENT(RTU_RECEIVED),
	CM_EVENT(USER_ESTABLISHED), CM_EVENT(DREQ_ERROR),
	CM_EVENT(DREQ_RECEIVED), CM_EVENT(DREP_RECEIVED),
	CM_EVENT(TIMEWAIT_EXIT), CM_EVENT(MRA_RECEIVED),
	CM_EVENT(REJ_RECEIVED), CM_EVENT(LAP_ERROR), CM_EVENT(LAP_RECEIVED),
	CM_EVENT(APR_RECEIVED), CM_EVENT(SIDR_REQ_ERROR),
	CM_EVENT(SIDR_REQ_RECEIVED), CM_EVENT(SIDR_REP_RECEIVED),
};

static void show_figures(struct seq_file *m, const char *kind,
			 const struct ibrc_name *names, u32 n,
			 const u64 *figures)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (figures[names[i].value])
			seq_printf(m, "%s.%s %llu\n", kind, names[i].name,
				   figures[names[i].value]);
}

static void show_counts(struct seq_file *m, const char *kind,
			const struct ibrc_name *names, u32 n,
			const atomic_t *counts)
{
	int count;
	u32 i;

	for (i = 0; i < n; i++) {
		count = atomic_read(&counts[names[i].value]);
		if (count)
			seq_printf(m, "%s.%s %d\n", kind, names[i].name, count);
	}
}

/**
 * ibrc_spoilt() - The number of errors in received messages and of the order of completions.
 * @result: the result
 *
 * Context: any.
 * Return: the sum of all kinds.
 */
u64 ibrc_spoilt(const struct ibrc_result *result)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < IBRC_NUM_SPOILT; i++)
		sum += result->spoilt[i];
	return sum;
}

/**
 * ibrc_result_show() - Print the result of a run.
 * @m: the file
 * @result: the result, of a run that may still be running
 *
 * Context: process.
 */
void ibrc_result_show(struct seq_file *m, const struct ibrc_result *result)
{
	seq_printf(m, "status %d\nstage %s\n", result->status, result->stage ?: "none");
	seq_printf(m, "sent %llu\ncompleted %llu\nreceived %llu\nlost %llu\nbytes %llu\n",
		   result->sent, result->completed, result->received, result->lost,
		   result->bytes);
	seq_printf(m, "spoilt %llu\n", ibrc_spoilt(result));
	show_figures(m, "spoilt", spoilt_names, ARRAY_SIZE(spoilt_names),
		     result->spoilt);
	show_figures(m, "send", status_names, ARRAY_SIZE(status_names),
		     result->sends);
	show_figures(m, "recv", status_names, ARRAY_SIZE(status_names),
		     result->recvs);
	show_counts(m, "event", event_names, ARRAY_SIZE(event_names),
		    result->events);
	show_counts(m, "cm", cm_event_names, ARRAY_SIZE(cm_event_names),
		    result->cm_events);
	seq_printf(m, "cm_spoilt %d\ncm_bare %d\n",
		   atomic_read(&result->cm_spoilt),
		   atomic_read(&result->cm_bare));
	seq_printf(m, "wrong %llu%s\n", result->wrong, result->why);
	seq_printf(m, "ns %llu\n", result->ns);
}
