/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ibhooks: declarations shared by its parts */
#ifndef IBHOOKS_H
#define IBHOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* IPoIB's pseudo header: the link-layer address of the sender or receiver, and
 * the encapsulation header
 */
#define LL_HEADER_LEN		24
#define LL_ETHERTYPE		20

#define IP_HEADER_PROTOCOL	9
#define IP_HEADER_LEN		20

/* A timeout that suffices on the slowest machine */
#define WAIT_SECONDS		60

const char *packet_kind(const uint8_t *packet, size_t len);
bool packet_is_echo(const uint8_t *packet, size_t len);
void print_octets(const char *name, const void *octets, size_t len);
void print_end(void);
void print_ready(void);

/* The subcommands; argv holds the arguments after their names */
void nflog_main(int argc, char **argv);
void nfqueue_main(int argc, char **argv);
void packet_main(int argc, char **argv);
void xdp_main(int argc, char **argv);
noreturn void usage(void);

#endif
