// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals that end the tool while a change is under way.
 *
 * The kernel finishes a request that it has begun, whatever becomes of who sent
 * it. So the tool hears its answer, says whether the change is in force, and
 * ends by the signal only then.
 */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "err.h"

static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
#define N_SIGNALS	(sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[N_SIGNALS];
static volatile sig_atomic_t pending;

static void note(int number)
{
	pending = number;
}

/** ctl_interrupt_hold() - a change begins: signals wait for its end */
void ctl_interrupt_hold(void)
{
	/* Calls that wait return at once, and try again. */
	struct sigaction action = { .sa_handler = note };
	size_t i;

	for (i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/**
 * ctl_interrupted() - whether a signal waits for the end of a change
 *
 * Return: true if so.
 */
bool ctl_interrupted(void)
{
	return pending;
}

/**
 * ctl_interrupt_release() - a change has ended
 * @ret: CTL_OK if it is in force; otherwise nothing of it is, and the reason is
 *	recorded
 *
 * Return: @ret; CTL_FAILED with a sentence recorded if a signal came meanwhile.
 */
int ctl_interrupt_release(int ret)
{
	size_t i;

	for (i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	if (!pending)
		return ret;
	/* A refusal says what became of the change by itself. */
	if (ret && ctl_err_code() != EINTR)
		return ret;
	ctl_err_clear();
	return ctl_fail(EINTR, "ended by a signal: %s", ret ? "nothing was applied" : "applied");
}

/** ctl_interrupt_raise() - end by the signal that waited, if one did */
void ctl_interrupt_raise(void)
{
	if (pending)
		raise(pending);
}
