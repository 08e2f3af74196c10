// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU that counts how often each instruction of the kernel is executed
 * between two marks.
 *
 * Arguments: out=FILE, to which it writes a line "end" after each such period, and
 * before it "ADDRESS COUNT" of each instruction that was executed. All of programs
 * have the address 0. With stores=on also "ADDRESS COUNT LINE" of each that wrote to
 * memory, for each line of the cache that it wrote to, followed by "pushed" if it is
 * a call or a push: what it wrote to is a stack.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

/* Version 1 of the interface, whose header Debian does not package. ------------- */

#define EXPORT __attribute__((visibility("default")))

struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { CB_NO_REGS = 0 };
enum { INLINE_ADD_U64 = 0 };
enum { MEM_W = 2 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
		void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
		int op, void *counter, uint64_t add);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, uint32_t info, uint64_t address, void *data),
		int flags, int rw, void *data);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* Counters ----------------------------------------------------------------------- */

#define KERNEL		0xffff800000000000
#define BUCKETS_LOG	20
#define CHUNK		4096
#define LINE		64

/* Code that was translated points at counters: they are never moved nor freed. */
struct counter {
	uint64_t address;
	uint64_t line;		/* that is written to; 0: how often it is executed */
	uint64_t count;
	bool push;
	struct counter *next;
};

static struct counter *buckets[1 << BUCKETS_LOG];
static struct counter *chunk;
static size_t chunk_used = CHUNK;
static FILE *out;
static bool stores, counting;

static struct counter *counter_get(uint64_t address, uint64_t line)
{
	struct counter **bucket, *c;

	bucket = &buckets[((address + line * 31) * 0x9e3779b97f4a7c15) >> (64 - BUCKETS_LOG)];
	for (c = *bucket; c; c = c->next) {
		if (c->address == address && c->line == line)
			return c;
	}
	if (chunk_used == CHUNK) {
		chunk = calloc(CHUNK, sizeof(*chunk));
		if (!chunk)
			abort();
		chunk_used = 0;
	}
	c = &chunk[chunk_used++];
	c->address = address;
	c->line = line;
	c->next = *bucket;
	*bucket = c;
	return c;
}

static void count_begin(unsigned int cpu, void *data)
{
	for (size_t i = 0; i < 1 << BUCKETS_LOG; i++) {
		for (struct counter *c = buckets[i]; c; c = c->next)
			c->count = 0;
	}
	counting = true;
}

/* Of one that lies across two lines both count. QEMU 7.2 tells of loads, too. */
static void count_store(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;
	const struct counter *insn = data;

	if (!counting || !qemu_plugin_mem_is_store(info))
		return;
	for (uint64_t line = address & -LINE; line <= last; line += LINE) {
		struct counter *c = counter_get(insn->address, line);

		c->push = insn->push;
		c->count++;
	}
}

static void count_end(unsigned int cpu, void *data)
{
	counting = false;
	for (size_t i = 0; i < 1 << BUCKETS_LOG; i++) {
		for (struct counter *c = buckets[i]; c; c = c->next) {
			if (!c->count)
				continue;
			fprintf(out, "%" PRIx64 " %" PRIu64, c->address, c->count);
			if (c->line)
				fprintf(out, " %" PRIx64 "%s", c->line, c->push ? " pushed" : "");
			fputc('\n', out);
		}
	}
	fprintf(out, "end\n");
	fflush(out);
}

/* Translation -------------------------------------------------------------------- */

static const unsigned char begin_code[MARK_SIZE] = { MARK_BEGIN };
static const unsigned char end_code[MARK_SIZE] = { MARK_END };

static bool is_mark(const struct qemu_plugin_insn *insn, const unsigned char *mark)
{
	return qemu_plugin_insn_size(insn) == MARK_SIZE &&
	       !memcmp(qemu_plugin_insn_data(insn), mark, MARK_SIZE);
}

static bool is_push(const struct qemu_plugin_insn *insn)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);

	return code[0] == 0xe8 || (code[0] & 0xf8) == 0x50;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		struct counter *c = counter_get(address >= KERNEL ? address : 0, 0);

		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &c->count, 1);
		if (stores && address >= KERNEL) {
			c->push = is_push(insn);
			qemu_plugin_register_vcpu_mem_cb(insn, count_store, CB_NO_REGS, MEM_W, c);
		}
		if (is_mark(insn, begin_code))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count_begin,
					CB_NO_REGS, NULL);
		else if (is_mark(insn, end_code))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count_end,
					CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strcmp(argv[i], "stores=on"))
			stores = true;
	}
	if (!out) {
		fprintf(stderr, "profile: out=FILE is missing or cannot be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
