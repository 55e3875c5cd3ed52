// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints lines for a program that sends each as a datagram. A shell would start a process for each
 * pause.
 *
 * Usage: talker WORDS SECONDS FILE
 *
 * Prints WORDS with a pause of SECONDS after each line, until FILE exists. Then prints them 20
 * times more, 20 ms apart, with the number of the line in front.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NUMBERED_LINES		20
#define NUMBERED_PAUSE_US	20000

int main(int argc, char **argv)
{
	useconds_t pause_us;
	int i;

	if (argc != 4)
		errx(2, "usage: talker WORDS SECONDS FILE");
	pause_us = strtod(argv[2], NULL) * 1e6;
	setvbuf(stdout, NULL, _IOLBF, 0);

	while (access(argv[3], F_OK)) {
		puts(argv[1]);
		usleep(pause_us);
	}
	for (i = 1; i <= NUMBERED_LINES; i++) {
		printf("%d %s\n", i, argv[1]);
		usleep(NUMBERED_PAUSE_US);
	}
	return 0;
}
