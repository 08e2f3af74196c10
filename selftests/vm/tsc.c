// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of the time stamp counter, in kHz. An emulated CPU has the
 * counter of the real one, and a kernel without ACPI can only measure it by a
 * timer that is too late on a busy machine.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

int main(void)
{
	double begin = now();
	unsigned long long ticks = __rdtsc();
	double end;

	do
		end = now();
	while (end - begin < 100);
	printf("%.0f\n", (__rdtsc() - ticks) / (end - begin));
	return 0;
}
