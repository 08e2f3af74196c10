// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line on the terminal while something takes long: on standard error, from the
 * second second on, and gone when it is over.
 *
 * A timer writes it, since most of the time is spent in the kernel or in a loop
 * that has better things to do.
 */
#include "progress.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Back to the left, and clear to the right: ECMA-48's EL. */
#define CLEAR	"\r\033[K"

static const char *label;
static volatile sig_atomic_t percent, seconds;
static bool running;

/* Only what POSIX allows in a handler of signals. */
static void put(const char *text)
{
	/* A terminal that takes no more shows no progress. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void put_number(unsigned int number)
{
	char digits[11] = "", *at = digits + sizeof(digits) - 1;

	do
		*--at = '0' + number % 10;
	while (number /= 10);
	put(at);
}

static void tick(int signal)
{
	/* A call that it interrupts may have failed just now. */
	const int saved = errno;

	(void)signal;
	seconds += seconds ? 1 : 2;
	put(CLEAR);
	put(label);
	put(": ");
	if (percent >= 0) {
		put_number(percent);
		put("%, ");
	}
	put_number(seconds);
	put(" s");
	errno = saved;
}

static void set_timer(time_t first, time_t then)
{
	const struct itimerval timer = {
		.it_value.tv_sec = first,
		.it_interval.tv_sec = then,
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/**
 * ctl_progress_begin() - something begins that may take longer than two seconds
 * @what: what, as a message has it; not copied
 *
 * Nothing is shown where standard error is no terminal.
 */
void ctl_progress_begin(const char *what)
{
	const struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };

	if (!isatty(STDERR_FILENO))
		return;
	label = what;
	percent = -1;
	seconds = 0;
	running = true;
	sigaction(SIGALRM, &action, NULL);
	set_timer(2, 1);
}

/**
 * ctl_progress_at() - how far it is
 * @done: steps done
 * @all: of so many
 */
void ctl_progress_at(uint64_t done, uint64_t all)
{
	percent = all ? 100 * done / all : 0;
}

/** ctl_progress_end() - it is over */
void ctl_progress_end(void)
{
	if (!running)
		return;
	set_timer(0, 0);
	running = false;
	if (seconds)
		put(CLEAR);
}
