// SPDX-License-Identifier: GPL-2.0-only
/*
 * A configuration file read without a kernel: what apply would make of it, as a
 * snapshot, but for zones. What only a kernel can judge, such as whether an address
 * is usable, is not judged.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "lines.h"

/* Last: its types stand in for the kernel's. */
#include "nodes.h"

static struct ctl_service *find_service(const struct ctl_snap *snap, const char *name)
{
	uint32_t i;

	/* A backend is of the service named last, as a rule. */
	for (i = snap->n_services; i; i--) {
		if (!strcmp(snap->services[i - 1].name, name))
			return &snap->services[i - 1];
	}
	return NULL;
}

static int add_service(struct ctl_snap *snap, struct ctl_args *args)
{
	struct ctl_service svc;
	int ret;

	ret = ctl_service_parse(args, &svc);
	if (!ret && find_service(snap, svc.name))
		ret = ctl_fail(EEXIST, "service '%s' is named twice", svc.name);
	if (!ret)
		ret = ctl_nodes_defaults(&svc);
	return ret ? ret : ctl_snap_add_service(snap, svc);
}

static int add_backend(struct ctl_snap *snap, const struct ctl_service *svc,
		       struct ctl_backend be)
{
	/*
	 * A service of all ports keeps the packet's port; any other gives its
	 * own.
	 */
	if (be.ep.kind == CTL_PORT_NONE && svc->ep.kind == CTL_PORT_ONE) {
		be.ep.kind = CTL_PORT_ONE;
		be.ep.port = svc->ep.port;
	}
	/* A label, of the line's: no ring is made of it. */
	be.zone = NULL;
	return ctl_snap_add_backend(snap, svc, be);
}

static int add_backends(struct ctl_snap *snap, struct ctl_args *args, unsigned long line)
{
	const struct ctl_service *svc = find_service(snap, args->argv[0]);
	struct ctl_backend be;
	int i, n, ret;

	if (!svc)
		return ctl_fail(ENOENT, "no service '%s' in this file before its backend",
				args->argv[0]);
	ret = ctl_backend_parse(args, &be, &n);
	if (!ret && !(be.present & CTL_BIT(CHS_A_BACKEND_WEIGHT)))
		be.weight = svc->unit;
	if (!ret && be.weight > CHS_RING_WEIGHT_MAX)
		ret = ctl_usage("weight '%u': more than %d", be.weight, CHS_RING_WEIGHT_MAX);

	be.line = line;
	for (i = 1; !ret && i <= n; i++) {
		ret = ctl_backend_endpoint(args, i, &be.ep);
		if (!ret)
			ret = add_backend(snap, svc, be);
	}
	return ret;
}

static int add_line(struct ctl_snap *snap, char **words, unsigned long line)
{
	struct ctl_args args = {};
	int ret;

	ret = ctl_cmd_parse(words, &args);
	if (ret)
		return ret;
	if (args.cmd->build == ctl_service_add)
		return add_service(snap, &args);
	if (args.cmd->build == ctl_backend_add)
		return add_backends(snap, &args, line);
	return ctl_usage("'%s%s%s': only service add and backend add may be in this file",
			 args.cmd->object, args.cmd->verb ? " " : "",
			 args.cmd->verb ? args.cmd->verb : "");
}

static int cmp_identity(const struct ctl_backend *a, const struct ctl_backend *b)
{
	struct chs_ring_id id_a, id_b;

	if (a->service != b->service)
		return a->service < b->service ? -1 : 1;
	ctl_node_id(&a->ep, &id_a);
	ctl_node_id(&b->ep, &id_b);
	return chs_ring_id_cmp(&id_a, &id_b);
}

/* Order by identity, then by line. */
static int by_identity(const void *a, const void *b)
{
	const struct ctl_backend *x = a, *y = b;
	const int diff = cmp_identity(x, y);

	return diff ? diff : x->line < y->line ? -1 : x->line > y->line;
}

/* The backends of each service behind each other, as the kernel tells them. */
static int group(struct ctl_snap *snap, const char *file)
{
	struct ctl_service *svc;
	uint32_t i;

	if (!snap->n_backends)
		return CTL_OK;
	qsort(snap->backends, snap->n_backends, sizeof(*snap->backends), by_identity);

	for (i = 0; i < snap->n_backends; i++) {
		svc = &snap->services[snap->backends[i].service];
		if (i && !cmp_identity(&snap->backends[i - 1], &snap->backends[i])) {
			ctl_err_where(file, snap->backends[i].line);
			return ctl_fail(EEXIST, "backend %s of service '%s' is named twice",
					ctl_endpoint_text(&snap->backends[i].ep), svc->name);
		}
		if (!i || snap->backends[i - 1].service != snap->backends[i].service)
			svc->first = i;
		svc->n_backends = svc->n;
	}
	return CTL_OK;
}

/**
 * ctl_config_load() - read a configuration file
 * @file: its name, "-" is standard input
 * @snap: what it says: services in its order, with the defaults that a ring is
 *	made by; to be freed with ctl_snap_free()
 *
 * Return: CTL_OK, or CTL_USAGE or CTL_FAILED and @snap is empty.
 */
int ctl_config_load(const char *file, struct ctl_snap *snap)
{
	struct ctl_lines lines = {};
	bool end = false;
	int ret;

	memset(snap, 0, sizeof(*snap));
	ret = ctl_lines_open(&lines, file);
	while (!ret) {
		ret = ctl_lines_next(&lines, &end);
		if (ret || end)
			break;
		ret = add_line(snap, lines.words, lines.line);
	}
	ctl_err_where(lines.name, 0);
	if (!ret)
		ret = group(snap, lines.name);
	ctl_lines_close(&lines);
	if (ret)
		ctl_snap_free(snap);
	return ret;
}

/**
 * ctl_config_pick() - the service of a file that is meant
 * @snap: the file's services
 * @file: its name
 * @name: name of the service, or NULL where there is one only
 * @svc: where it goes
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_config_pick(const struct ctl_snap *snap, const char *file, const char *name,
		    const struct ctl_service **svc)
{
	if (!snap->n_services)
		return ctl_fail(ENOENT, "%s: no service in this file", file);
	if (!name && snap->n_services > 1)
		return ctl_usage("%s: %u services: which? (service NAME)", file,
				 snap->n_services);
	*svc = name ? find_service(snap, name) : snap->services;
	return *svc ? CTL_OK : ctl_fail(ENOENT, "%s: no service '%s' in this file", file, name);
}
