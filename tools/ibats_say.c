// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error messages: errors of the kernel, wrong usage, and the reasons why a subnet
 * administrator (SA) refused a record.
 */
#include <errno.h>
#include <string.h>

#include "ibats.h"

/* The status of a MAD. InfiniBand's specification, 13.4.7 and 15.2.5 */
#define MAD_BUSY		0x0001
#define MAD_INVALID(status)	((status) >> 2 & 7)
#define MAD_SPECIFIC(status)	((status) >> 8)

/* A number and its meaning */
struct meaning {
	int number;
	const char *text;
};

static const struct meaning errors[] = {
	{ ENOENT, "nobody has it" },
	{ ENODEV, "there is no such port that this network namespace may use" },
	{ ENETUNREACH, "there is no subnet administrator" },
	{ ETIMEDOUT, "the subnet administrator does not answer" },
	{ EREMOTEIO, "the subnet administrator refuses to answer" },
	{ EOPNOTSUPP, "the kernel's module ib_ats cannot do that" },
	{ EDQUOT, "too many questions are open; try again later" },
	{ EPERM, "needs CAP_NET_ADMIN" },
	{ ENOPKG, "the kernel's module ib_ats is not loaded; load it with 'modprobe ib_ats'" },
	{ ENOBUFS, "the socket has no room for all answers, so some are missing" },
	{ ETIME, "the kernel does not answer" },
	{ EINTR, "the records changed each time they were read; try again later" },
};

/* Status of the class SubnAdm, in the upper octet */
static const struct meaning refusals[] = {
	{ 1, "no resources" },
	{ 2, "the request is invalid" },
	{ 3, "no records" },
	{ 4, "too many records" },
	{ 5, "invalid GID" },
	{ 6, "insufficient components" },
	{ 7, "denied" },
};

/* Status of all classes, in bits 2 to 4 */
static const struct meaning invalid_fields[] = {
	{ 1, "bad version" },
	{ 2, "method not supported" },
	{ 3, "method and attribute not supported together" },
	{ 7, "invalid attribute or modifier" },
};

static const char *meaning_of(const struct meaning *meanings, unsigned int count, int number)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (meanings[i].number == number)
			return meanings[i].text;
	return NULL;
}

static enum status status_of(int err)
{
	switch (-err) {
	case 0:
		return STATUS_FOUND;
	case ENOENT:
	case EADDRNOTAVAIL:
		return STATUS_NOT_FOUND;
	case EINVAL:
	case ERANGE:
	case EOPNOTSUPP:
		return STATUS_USAGE;
	case ENODEV:
	case ENETUNREACH:
	case ETIMEDOUT:
		return STATUS_NO_SA;
	default:
		return STATUS_FAILED;
	}
}

/**
 * failed() - print an error message, if there was an error
 * @nl: the socket of the request
 * @what: the subject of the request
 * @err: 0 or a negative error
 *
 * The kernel's own message, if there is one, is preferred, since it is more exact. A missing
 * module is not attributed to @what.
 *
 * Return: the exit status of the tool.
 */
enum status failed(const struct nl *nl, const char *what, int err)
{
	const char *text = meaning_of(errors, ARRAY_SIZE(errors), -err);

	if (nl->error[0] && err != -ENOPKG)
		text = nl->error;
	if (err == -ENOPKG)
		fprintf(stderr, "ibats: %s\n", text);
	else if (err)
		fprintf(stderr, "ibats: %s: %s\n", what, text ?: strerror(-err));
	return status_of(err);
}

/**
 * misused() - print an error message about the command line
 * @what: a word of the command line
 * @text: what is wrong with it
 *
 * Return: the exit status of the tool.
 */
enum status misused(const char *what, const char *text)
{
	fprintf(stderr, "ibats: %s: %s\n", what, text);
	return STATUS_USAGE;
}

/**
 * refusal_text() - the reason why an SA has refused a request
 * @status: the status of its MAD
 * @text: set to the reason
 * @size: the size of @text
 */
void refusal_text(__u16 status, char *text, size_t size)
{
	const char *why = NULL;

	if (MAD_SPECIFIC(status))
		why = meaning_of(refusals, ARRAY_SIZE(refusals), MAD_SPECIFIC(status));
	else if (MAD_INVALID(status))
		why = meaning_of(invalid_fields, ARRAY_SIZE(invalid_fields),
				 MAD_INVALID(status));
	else if (status & MAD_BUSY)
		why = "busy";
	snprintf(text, size, "%s", why ?: "unknown reason");
}
