// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl save
 *
 * The same state always gives the same bytes: services by name, backends by
 * address, options in the order of the tables of keywords.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "err.h"
#include "lines.h"
#include "snap.h"

#define WINDOW_DEFAULT		900
#define MAX_FLOWS_DEFAULT	262144
#define GUE_PORT_DEFAULT	6080

static void print_word(FILE *to, const char *word)
{
	if (!ctl_word_needs_quotes(word)) {
		fputs(word, to);
		return;
	}

	fputc('"', to);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			fputc('\\', to);
		fputc(*word, to);
	}
	fputc('"', to);
}

static void print_hundredths(FILE *to, uint32_t value)
{
	if (value)
		fprintf(to, " %u.%02u", value / 100, value % 100);
	else
		fputs(" off", to);
}

static void print_option(FILE *to, const struct ctl_keyword *kw, const void *obj)
{
	const void *from = (const char *)obj + kw->offset;
	int i;

	fprintf(to, " %s", kw->name);
	switch (kw->kind) {
	case CTL_KW_NUMBER:
	case CTL_KW_PORT:
		fprintf(to, " %u", *(const uint32_t *)from);
		break;
	case CTL_KW_CHOICE:
		fprintf(to, " %s", ctl_choice_name(kw->values, *(const uint32_t *)from));
		break;
	case CTL_KW_HUNDREDTHS:
		print_hundredths(to, *(const uint32_t *)from);
		break;
	case CTL_KW_SEED:
		fputc(' ', to);
		for (i = 0; i < CTL_SEED_BYTES; i++)
			fprintf(to, "%02x", ((const uint8_t *)from)[i]);
		break;
	case CTL_KW_STRING:
		fputc(' ', to);
		print_word(to, *(const char *const *)from);
		break;
	case CTL_KW_ADDRESS:
		fprintf(to, " %s", ctl_addr_text(from));
		break;
	case CTL_KW_FLAG:
		break;
	}
}

/* The defaults of the modes that keep flows themselves. */
static bool is_default(const struct ctl_service *svc, unsigned int attr)
{
	switch (attr) {
	case CHS_A_SERVICE_AFFINITY:
		return svc->affinity == (svc->proto == IPPROTO_UDP ? CHS_AFFINITY_FLOW :
					 CHS_AFFINITY_TRANSITION);
	case CHS_A_SERVICE_WINDOW:
		return svc->window == WINDOW_DEFAULT;
	case CHS_A_SERVICE_MAX_FLOWS:
		return svc->max_flows == MAX_FLOWS_DEFAULT;
	case CHS_A_SERVICE_TIMEOUT:
		return svc->timeout == svc->window;
	case CHS_A_SERVICE_GUE_PORT:
		return svc->gue_port == GUE_PORT_DEFAULT;
	default:
		return false;
	}
}

/*
 * Options that shape the ring are always saved, others unless they have their
 * default.
 */
static bool is_saved(const struct ctl_service *svc, unsigned int attr)
{
	switch (attr) {
	case CHS_A_SERVICE_HASH:
	case CHS_A_SERVICE_POINTS:
	case CHS_A_SERVICE_UNIT:
	case CHS_A_SERVICE_SLOTS:
	case CHS_A_SERVICE_BALANCE:
		return true;
	case CHS_A_SERVICE_SEED:
		return !svc->seed_default;
	case CHS_A_SERVICE_MODE:
		return svc->mode != CHS_MODE_NAT;
	case CHS_A_SERVICE_ON_EMPTY:
		return svc->on_empty != CHS_ON_EMPTY_REJECT;
	case CHS_A_SERVICE_MASQUERADE:
		return svc->masquerade;
	default:
		return svc->mode != CHS_MODE_NAT && (svc->present & CTL_BIT(attr)) &&
		       !is_default(svc, attr);
	}
}

static void print_service(FILE *to, const struct ctl_service *svc)
{
	const struct ctl_keyword *kw;

	fprintf(to, "service add %s%s %s %s", svc->forced ? "--force " : "",
		svc->name, ctl_proto_name(svc->proto), ctl_endpoint_text(&svc->ep));
	for (kw = ctl_service_keywords; kw->name; kw++) {
		if (is_saved(svc, kw->attr))
			print_option(to, kw, svc);
	}
	fputc('\n', to);
}

static void print_backend(FILE *to, const struct ctl_service *svc, const struct ctl_backend *be)
{
	const struct ctl_keyword *kw;

	fprintf(to, "backend add %s %s", svc->name, ctl_endpoint_text(&be->ep));
	for (kw = ctl_backend_keywords; kw->name; kw++) {
		if (!(be->present & CTL_BIT(kw->attr)) ||
		    (kw->attr == CHS_A_BACKEND_STATE && be->state == CHS_STATE_UP))
			continue;
		print_option(to, kw, be);
	}
	fputc('\n', to);
}

static void print_all(FILE *to, const struct ctl_snap *snap)
{
	uint32_t i, j;

	for (i = 0; i < snap->n_services; i++) {
		const struct ctl_service *svc = &snap->services[i];

		print_service(to, svc);
		for (j = 0; j < svc->n; j++)
			print_backend(to, svc, &snap->backends[svc->first + j]);
	}
}

/* Without its seed a service would be another one. */
static int check_seeds(const struct ctl_snap *snap)
{
	uint32_t i;

	for (i = 0; i < snap->n_services; i++) {
		const struct ctl_service *svc = &snap->services[i];

		if (!svc->seed_default && !(svc->present & CTL_BIT(CHS_A_SERVICE_SEED)))
			return ctl_fail(EPERM, "service %s: its seed is told only with CAP_NET_ADMIN",
					svc->name);
	}
	return CTL_OK;
}

/* Also the rename has to outlive a power cut. */
static void sync_directory(const char *name)
{
	char *copy = strdup(name), *slash;
	int fd;

	if (!copy)
		return;
	slash = strrchr(copy, '/');
	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(copy);
}

static bool has_secrets(const struct ctl_snap *snap)
{
	uint32_t i;

	for (i = 0; i < snap->n_services; i++) {
		if (!snap->services[i].seed_default)
			return true;
	}
	return false;
}

/* As the file that is replaced; a new one with seeds in it is for its owner. */
static int set_mode(int fd, const struct stat *old, const struct ctl_snap *snap)
{
	const mode_t mask = umask(0);
	mode_t mode = 0666 & ~mask;

	umask(mask);
	if (has_secrets(snap))
		mode &= 0600;
	if (old) {
		mode = old->st_mode & 0777;
		if (fchown(fd, old->st_uid, old->st_gid))
			mode &= 0600;
	}
	return fchmod(fd, mode);
}

static int write_all(int fd, const struct ctl_snap *snap, bool sync)
{
	FILE *to = fdopen(fd, "w");
	bool failed;

	if (!to) {
		close(fd);
		return -1;
	}
	print_all(to, snap);
	failed = fflush(to) || ferror(to) || (sync && fsync(fd));
	return fclose(to) || failed ? -1 : 0;
}

static int save_aside(const char *name, const struct stat *old, const struct ctl_snap *snap)
{
	char *aside;
	int fd, code;

	if (asprintf(&aside, "%s.XXXXXX", name) < 0)
		return ctl_fail(ENOMEM, "out of memory");
	fd = mkostemp(aside, O_CLOEXEC);
	if (fd < 0) {
		code = errno;
		free(aside);
		return ctl_fail(code, "%s: cannot write beside it", name);
	}

	errno = 0;
	if (set_mode(fd, old, snap)) {
		code = errno;
		close(fd);
	} else {
		code = write_all(fd, snap, true) || rename(aside, name) ? errno : 0;
	}
	if (code) {
		unlink(aside);
		free(aside);
		return ctl_fail(code, "%s: cannot write; it is left as it was", name);
	}
	free(aside);
	sync_directory(name);
	return CTL_OK;
}

/* A device or a pipe cannot be replaced. */
static int save_into(const char *name, const struct ctl_snap *snap)
{
	const int fd = open(name, O_WRONLY | O_CLOEXEC);

	errno = fd < 0 ? errno : 0;
	if (fd < 0 || write_all(fd, snap, false))
		return ctl_fail(errno ? errno : EIO, "%s: cannot write", name);
	return CTL_OK;
}

static int save_to(const char *name, const struct ctl_snap *snap)
{
	struct stat old;
	char *real;
	int ret;

	if (stat(name, &old))
		return save_aside(name, NULL, snap);
	if (!S_ISREG(old.st_mode))
		return save_into(name, snap);

	/* Behind a symbolic link it is the file that is replaced. */
	real = realpath(name, NULL);
	ret = save_aside(real ? real : name, &old, snap);
	free(real);
	return ret;
}

/**
 * ctl_save() - chctl save
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_save(struct ctl_args *args)
{
	const char *name = args->argv[0];
	struct ctl_snap snap;
	int ret;

	ret = ctl_snap_all(&snap, NULL);
	if (ret)
		return ret;

	ret = check_seeds(&snap);
	if (!ret && name && strcmp(name, "-"))
		ret = save_to(name, &snap);
	else if (!ret)
		print_all(stdout, &snap);
	ctl_snap_free(&snap);
	return ret;
}
