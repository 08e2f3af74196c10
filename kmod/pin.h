/* SPDX-License-Identifier: GPL-2.0-only */
/* References to the module. */
#ifndef CHS_PIN_H
#define CHS_PIN_H

struct chs_msg;
struct chs_net;
struct chs_table;

int chs_pin_hold(struct chs_net *cn, const struct chs_table *table,
		 struct chs_msg *msg);
void chs_pin_release(struct chs_net *cn);
void chs_pin_relax(struct chs_net *cn);
void chs_pin_init(void);
void chs_pin_exit(void);

#endif /* CHS_PIN_H */
