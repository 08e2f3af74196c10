/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From words to values: syntax only. Whether a value makes sense is for the
 * kernel to say.
 */
#ifndef CHCTL_PARSE_H
#define CHCTL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "[ADDR6]:LO-HI" and then some */
#define CTL_ENDPOINT_MAX	80
#define CTL_SEED_BYTES		16

/**
 * struct ctl_addr - an address
 * @len: 4, 16, or 0 for none
 * @b: the address in network order
 */
struct ctl_addr {
	uint8_t len;
	uint8_t b[16];
};

/* Form of the port part of an endpoint. */
enum ctl_port {
	CTL_PORT_NONE,
	CTL_PORT_ONE,
	CTL_PORT_RANGE,
	CTL_PORT_ANY,
};

/**
 * struct ctl_endpoint - an address with a port
 * @addr: address
 * @kind: which of the others are used
 * @port: port, or the first of a range
 * @port_end: last port of a range
 */
struct ctl_endpoint {
	struct ctl_addr addr;
	enum ctl_port kind;
	uint16_t port;
	uint16_t port_end;
};

/* How a keyword's value is written. */
enum ctl_keyword_kind {
	/* A plain number. */
	CTL_KW_NUMBER,
	/* One of @values, sent as a byte. */
	CTL_KW_CHOICE,
	/* "off" or a number with two decimals. */
	CTL_KW_HUNDREDTHS,
	/* "default", 32 hex digits or @FILE. */
	CTL_KW_SEED,
	/* Any word. */
	CTL_KW_STRING,
	/* A port, sent in network order. */
	CTL_KW_PORT,
	/* "default" or an address without a port. */
	CTL_KW_ADDRESS,
	/* No value; it is there or not. */
	CTL_KW_FLAG,
};

/**
 * struct ctl_keyword - an option of an object
 * @name: keyword on the command line
 * @kind: how its value is written
 * @attr: its netlink attribute; bit @attr of the object's present mask
 * @offset: where in the object its value is
 * @values: the words of a choice in the order of their numbers, NULL-ended
 * @usage: how the value is written, for help
 * @help: what it means
 */
struct ctl_keyword {
	const char *name;
	enum ctl_keyword_kind kind;
	unsigned int attr;
	size_t offset;
	const char *const *values;
	const char *usage;
	const char *help;
};

#define CTL_BIT(attr)	(1U << (attr))

int ctl_parse_number(const char *what, const char *word, uint32_t max, uint32_t *value);
int ctl_parse_percent(const char *what, const char *word, uint32_t *value);
int ctl_parse_hex64(const char *what, const char *word, uint64_t *value);
int ctl_parse_choice(const char *what, const char *word, const char *const *values,
		     uint32_t *value);
int ctl_parse_proto(const char *word, uint8_t *proto);
int ctl_parse_endpoint(const char *word, struct ctl_endpoint *ep);
int ctl_parse_plain_endpoint(const char *what, const char *word, bool need_port,
			     struct ctl_endpoint *ep);
int ctl_parse_keywords(const struct ctl_keyword *table, uint32_t allowed,
		       char **words, void *obj, uint32_t *present);
const struct ctl_keyword *ctl_keyword_find(const struct ctl_keyword *table,
					   uint32_t allowed, const char *word);

const char *ctl_proto_name(uint8_t proto);
const char *ctl_choice_name(const char *const *values, uint32_t value);
const char *ctl_addr_text(const struct ctl_addr *addr);
int ctl_endpoint_cmp(const struct ctl_endpoint *a, const struct ctl_endpoint *b);
bool ctl_endpoint_same(const struct ctl_endpoint *a, const struct ctl_endpoint *b);
const char *ctl_endpoint_text(const struct ctl_endpoint *ep);

extern const char *const ctl_protos[];
extern const uint8_t ctl_seed_default[CTL_SEED_BYTES];

#endif /* CHCTL_PARSE_H */
