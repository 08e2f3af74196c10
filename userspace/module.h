/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the module is not there. */
#ifndef CHCTL_MODULE_H
#define CHCTL_MODULE_H

int ctl_module_missing(const char *root, const char *release);

#endif /* CHCTL_MODULE_H */
