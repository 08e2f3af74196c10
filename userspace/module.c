// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why the module is not there, as far as anybody may see it.
 */
#include "module.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

/* Whether a line of a file has @text in it; -1 if the file cannot be read. */
static int file_has(const char *root, const char *path, const char *text)
{
	char name[512], line[4096];
	int found = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	file = fopen(name, "re");
	if (!file)
		return -1;
	while (!found && fgets(line, sizeof(line), file))
		found = !!strstr(line, text);
	fclose(file);
	return found;
}

/* Installed for that kernel, as modprobe would find it. */
static bool is_installed(const char *root, const char *release)
{
	char path[256];

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	return file_has(root, path, "/chsteer.ko") == 1;
}

/**
 * ctl_module_missing() - record that the module is not there, and why
 * @root: directory that the kernel's files are below, "" but in tests
 * @release: release of the kernel that runs
 *
 * Return: CTL_FAILED.
 */
int ctl_module_missing(const char *root, const char *release)
{
	if (file_has(root, "/proc/sys/kernel/modules_disabled", "1") == 1)
		return ctl_fail(CTL_ENOMODULE,
				"module chsteer is not loaded, and this kernel loads no modules any more: kernel.modules_disabled is 1");
	if (!is_installed(root, release))
		return ctl_fail(CTL_ENOMODULE,
				"module chsteer is not loaded, nor installed for Linux %s: install it for this kernel, then modprobe chsteer",
				release);
	/* "[none] integrity confidentiality": the one in force is in brackets. */
	if (!file_has(root, "/sys/kernel/security/lockdown", "[none]"))
		return ctl_fail(CTL_ENOMODULE,
				"module chsteer is not loaded: modprobe chsteer; this kernel is locked down, as by Secure Boot, and takes only modules signed with a key enrolled in it");
	return ctl_fail(CTL_ENOMODULE,
			"module chsteer is not loaded: modprobe chsteer; if that fails, dmesg says why");
}
