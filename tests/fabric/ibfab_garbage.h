/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Garbage in memory that must not be read.
 */
#ifndef _IBFAB_GARBAGE_H
#define _IBFAB_GARBAGE_H

struct ibfab_hdrs;
struct ibfab_rwr;

int ibfab_garbage_init(void);
void ibfab_garbage_exit(void);
void ibfab_garbage_receive(const struct ibfab_rwr *rwr, const struct ibfab_hdrs *h);

#endif /* _IBFAB_GARBAGE_H */
