/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One writer for text and JSON: the same calls give either.
 *
 * Text is one object a line, "label value" pairs in columns; an object inside
 * another one is a line of its own, indented beneath it.
 */
#ifndef CHCTL_OUT_H
#define CHCTL_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Kind of a container: its brackets in JSON, its form in text. */
enum ctl_out_kind {
	/* [ ]; nothing */
	CTL_OUT_LIST,
	/* { }; a line of aligned columns */
	CTL_OUT_OBJECT,
	/* { }; a line with single blanks, for programs */
	CTL_OUT_RECORD,
	/* [ ]; the same */
	CTL_OUT_TUPLE,
	/* { }; more of the line */
	CTL_OUT_GROUP,
};

/* Output formats that a value appears in, and its form there. */
enum ctl_out_as {
	CTL_OUT_ANY,
	/* In text without its label. */
	CTL_OUT_BARE,
	CTL_OUT_JSON,
	CTL_OUT_TEXT,
};

void ctl_out_init(bool json, bool pretty);
bool ctl_out_is_json(void);
bool ctl_out_is_terminal(void);
int ctl_out_finish(void);
void ctl_out_json_string(FILE *to, const char *string);

void ctl_out_open(enum ctl_out_kind kind, const char *key);
void ctl_out_close(void);

void ctl_out_str(enum ctl_out_as as, const char *key, const char *value);
void ctl_out_u64(enum ctl_out_as as, const char *key, uint64_t value);
void ctl_out_maybe(enum ctl_out_as as, const char *key, bool known, uint64_t value);
void ctl_out_bool(enum ctl_out_as as, const char *key, bool value);
void ctl_out_hex(enum ctl_out_as as, const char *key, uint64_t value);
void ctl_out_share(enum ctl_out_as as, const char *key, uint64_t part, uint64_t whole);
void ctl_out_ratio(enum ctl_out_as as, const char *key, double value);
void ctl_out_bar(double share, double target, double full);
void ctl_out_hundredths(enum ctl_out_as as, const char *key, uint32_t value);
void ctl_out_null(enum ctl_out_as as, const char *key);

#endif /* CHCTL_OUT_H */
