// SPDX-License-Identifier: GPL-2.0-only
/*
 * From words to values and back. Every message names field and value.
 */
#include "parse.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "err.h"

const char *const ctl_protos[] = { "tcp", "udp", "sctp", NULL };
const uint8_t ctl_seed_default[CTL_SEED_BYTES] = "chsteer-ring-v1";
static const uint8_t proto_numbers[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP };

static bool all_digits(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/**
 * ctl_parse_number() - a plain decimal number
 * @what: name of the field
 * @word: what was typed
 * @max: the most that fits
 * @value: where the number goes
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_number(const char *what, const char *word, uint32_t max, uint32_t *value)
{
	uint64_t number = 0;
	const char *c;

	if (!all_digits(word))
		return ctl_usage("%s '%s': not a plain decimal number", what, word);
	/* Elsewhere it would be octal. */
	if (word[0] == '0' && word[1])
		return ctl_usage("%s '%s': leading zero", what, word);

	for (c = word; *c; c++) {
		number = 10 * number + (*c - '0');
		if (number > max)
			return ctl_usage("%s '%s': more than %u", what, word, max);
	}

	*value = number;
	return CTL_OK;
}

/**
 * ctl_parse_percent() - a part of a hundred, with or without the sign
 * @what: name of the field
 * @word: what was typed, with four decimals at most
 * @value: where it goes, in millionths of the whole
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_percent(const char *what, const char *word, uint32_t *value)
{
	const size_t whole = strspn(word, "0123456789");
	const char *rest = word + whole;
	size_t digits = 0, i;
	uint32_t number = 0;
	bool bad;

	if (*rest == '.') {
		digits = strspn(++rest, "0123456789");
		bad = !digits || digits > 4;
		rest += digits;
	} else {
		bad = false;
	}
	if (bad || !whole || whole > 3 || (*rest && strcmp(rest, "%")))
		return ctl_usage("%s '%s': not a percentage such as 2 or 2.5%%", what, word);

	for (i = 0; i < whole; i++)
		number = 10 * number + (word[i] - '0');
	for (i = 0; i < 4; i++)
		number = 10 * number + (i < digits ? word[whole + 1 + i] - '0' : 0);
	if (number > 1000000)
		return ctl_usage("%s '%s': more than 100", what, word);

	*value = number;
	return CTL_OK;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly @len bytes of hex digits; fewer are followed by the ending NUL. */
static bool hex_bytes(const char *word, uint8_t *bytes, size_t len)
{
	size_t i;
	int digit;

	for (i = 0; i < 2 * len; i++) {
		digit = hex_digit(word[i]);
		if (digit < 0)
			return false;
		bytes[i / 2] = bytes[i / 2] << 4 | digit;
	}

	return true;
}

/**
 * ctl_parse_hex64() - a digest
 * @what: name of the field
 * @word: what was typed
 * @value: where the number goes
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_hex64(const char *what, const char *word, uint64_t *value)
{
	uint8_t bytes[8] = {};
	int i;

	if (!hex_bytes(word, bytes, sizeof(bytes)) || word[2 * sizeof(bytes)])
		return ctl_usage("%s '%s': not 16 hex digits", what, word);

	for (*value = 0, i = 0; i < 8; i++)
		*value = *value << 8 | bytes[i];
	return CTL_OK;
}

/* "a, b or c" */
static void list_choices(const char *const *values, char *buf, size_t size)
{
	size_t len = 0;
	int i;

	for (i = 0; values[i] && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s",
				!i ? "" : values[i + 1] ? ", " : " or ", values[i]);
}

/**
 * ctl_parse_choice() - one of a few words
 * @what: name of the field
 * @word: what was typed
 * @values: the words, NULL-ended
 * @value: where the word's number goes
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_choice(const char *what, const char *word, const char *const *values,
		     uint32_t *value)
{
	char choices[128];
	uint32_t i;

	for (i = 0; values[i]; i++) {
		if (!strcmp(values[i], word)) {
			*value = i;
			return CTL_OK;
		}
	}

	list_choices(values, choices, sizeof(choices));
	return ctl_usage("%s '%s': not %s", what, word, choices);
}

/**
 * ctl_parse_proto() - a protocol
 * @word: what was typed
 * @proto: where its number goes
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_proto(const char *word, uint8_t *proto)
{
	uint32_t i;
	int ret;

	ret = ctl_parse_choice("protocol", word, ctl_protos, &i);
	if (ret)
		return ret;

	*proto = proto_numbers[i];
	return CTL_OK;
}

/**
 * ctl_proto_name() - name of a protocol
 * @proto: its number
 *
 * Return: the name, or the number; overwritten by the next call then.
 */
const char *ctl_proto_name(uint8_t proto)
{
	static char number[8];
	size_t i;

	for (i = 0; i < sizeof(proto_numbers); i++) {
		if (proto_numbers[i] == proto)
			return ctl_protos[i];
	}
	snprintf(number, sizeof(number), "%u", proto);
	return number;
}

/* An address that takes the whole of @len bytes at @text. */
static bool parse_addr(const char *text, size_t len, int family, struct ctl_addr *addr)
{
	char buf[INET6_ADDRSTRLEN];

	if (len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';

	addr->len = family == AF_INET ? 4 : 16;
	return inet_pton(family, buf, addr->b) == 1;
}

static int parse_port(const char *word, const char *text, size_t len, uint16_t *port)
{
	char buf[8], what[2 * CTL_ENDPOINT_MAX];
	uint32_t value;
	int ret;

	snprintf(what, sizeof(what), "%s: port", word);
	if (!len)
		return ctl_usage("%s: port missing", word);
	if (len >= sizeof(buf))
		return ctl_usage("%s '%.*s': not a port number", what, (int)len, text);
	memcpy(buf, text, len);
	buf[len] = '\0';

	ret = ctl_parse_number(what, buf, 65535, &value);
	if (!ret)
		*port = value;
	return ret;
}

/* Parse the port or range after the colon. */
static int parse_ports(const char *word, const char *text, struct ctl_endpoint *ep)
{
	const char *dash = strchr(text, '-');
	int ret;

	if (!strcmp(text, "*")) {
		ep->kind = CTL_PORT_ANY;
		return CTL_OK;
	}
	if (!dash) {
		ep->kind = CTL_PORT_ONE;
		return parse_port(word, text, strlen(text), &ep->port);
	}

	ep->kind = CTL_PORT_RANGE;
	ret = parse_port(word, text, dash - text, &ep->port);
	if (!ret)
		ret = parse_port(word, dash + 1, strlen(dash + 1), &ep->port_end);
	return ret;
}

static int parse_bracketed(const char *word, struct ctl_endpoint *ep)
{
	const char *end = strchr(word, ']');

	if (!end)
		return ctl_usage("%s: ']' missing", word);
	if (!parse_addr(word + 1, end - word - 1, AF_INET6, &ep->addr))
		return ctl_usage("%s: no IPv6 address within the brackets", word);
	if (!end[1])
		return CTL_OK;
	if (end[1] != ':')
		return ctl_usage("%s: ':' expected behind ']'", word);

	return parse_ports(word, end + 2, ep);
}

/**
 * ctl_parse_endpoint() - an address, perhaps with ports
 * @word: what was typed
 * @ep: where it goes
 *
 * An IPv6 address without brackets has no port: splitting it would be a guess.
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_endpoint(const char *word, struct ctl_endpoint *ep)
{
	const char *colon = strchr(word, ':');
	size_t len;

	memset(ep, 0, sizeof(*ep));
	if (strlen(word) >= CTL_ENDPOINT_MAX)
		return ctl_usage("'%s': too long for an address", word);
	if (strchr(word, '%'))
		return ctl_usage("'%s': an address cannot name an interface; link-local ones are not served",
				 word);
	if (*word == '[')
		return parse_bracketed(word, ep);
	if (colon && strchr(colon + 1, ':')) {
		if (!parse_addr(word, strlen(word), AF_INET6, &ep->addr))
			return ctl_usage("'%s': not an IPv6 address (with a port: [ADDRESS]:PORT)",
					 word);
		return CTL_OK;
	}

	len = colon ? (size_t)(colon - word) : strlen(word);
	if (!parse_addr(word, len, AF_INET, &ep->addr))
		return ctl_usage("'%s': not an address (names are not looked up, octets have no leading zeros)",
				 word);
	return colon ? parse_ports(word, colon + 1, ep) : CTL_OK;
}

/**
 * ctl_parse_plain_endpoint() - an address with one port at most
 * @what: name of the field
 * @word: what was typed
 * @need_port: whether there must be a port
 * @ep: where it goes
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_parse_plain_endpoint(const char *what, const char *word, bool need_port,
			     struct ctl_endpoint *ep)
{
	int ret = ctl_parse_endpoint(word, ep);

	if (ret)
		return ret;
	if (ep->kind == CTL_PORT_RANGE || ep->kind == CTL_PORT_ANY)
		return ctl_usage("%s %s: takes one port only", what, word);
	if (need_port && ep->kind == CTL_PORT_NONE)
		return ctl_usage("%s %s: port missing (%s)", what, word,
				 ep->addr.len == 4 ? "ADDRESS:PORT" : "[ADDRESS]:PORT");

	return CTL_OK;
}

/**
 * ctl_addr_text() - write an address
 * @addr: the address
 *
 * Return: the text without brackets, NULL for none; one of a few buffers used
 * in turn.
 */
const char *ctl_addr_text(const struct ctl_addr *addr)
{
	static char bufs[4][INET6_ADDRSTRLEN];
	static unsigned int turn;
	char *buf = bufs[turn++ % 4];

	if (addr->len == 4)
		return inet_ntop(AF_INET, addr->b, buf, INET6_ADDRSTRLEN);
	if (addr->len == 16)
		return inet_ntop(AF_INET6, addr->b, buf, INET6_ADDRSTRLEN);
	return NULL;
}

/**
 * ctl_endpoint_text() - write an endpoint as it is read
 * @ep: the endpoint
 *
 * Return: the text, NULL without an address; one of a few buffers used in
 * turn.
 */
const char *ctl_endpoint_text(const struct ctl_endpoint *ep)
{
	static char bufs[4][CTL_ENDPOINT_MAX];
	static unsigned int turn;
	char *buf = bufs[turn++ % 4];
	const char *addr = ctl_addr_text(&ep->addr);
	const bool v6 = ep->addr.len == 16;
	int len;

	if (!addr || ep->kind == CTL_PORT_NONE)
		return addr;

	len = snprintf(buf, CTL_ENDPOINT_MAX, "%s%s%s:", v6 ? "[" : "", addr, v6 ? "]" : "");
	if (ep->kind == CTL_PORT_ANY)
		snprintf(buf + len, CTL_ENDPOINT_MAX - len, "*");
	else if (ep->kind == CTL_PORT_RANGE)
		snprintf(buf + len, CTL_ENDPOINT_MAX - len, "%u-%u", ep->port, ep->port_end);
	else
		snprintf(buf + len, CTL_ENDPOINT_MAX - len, "%u", ep->port);
	return buf;
}

/**
 * ctl_endpoint_cmp() - compare backends' endpoints
 * @a: endpoint
 * @b: endpoint
 *
 * Return: negative, 0 or positive, in the order of identities, in which IPv4
 * stands as ::ffff:a.b.c.d.
 */
int ctl_endpoint_cmp(const struct ctl_endpoint *a, const struct ctl_endpoint *b)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff };
	uint8_t x[16] = {}, y[16] = {};
	int diff;

	memcpy(x, mapped, 16 - a->addr.len);
	memcpy(x + 16 - a->addr.len, a->addr.b, a->addr.len);
	memcpy(y, mapped, 16 - b->addr.len);
	memcpy(y + 16 - b->addr.len, b->addr.b, b->addr.len);
	diff = memcmp(x, y, 16);
	return diff ? diff : a->port - b->port;
}

/**
 * ctl_endpoint_same() - whether two endpoints are the same
 * @a: endpoint
 * @b: endpoint
 *
 * Return: true if so.
 */
bool ctl_endpoint_same(const struct ctl_endpoint *a, const struct ctl_endpoint *b)
{
	return a->addr.len == b->addr.len && !memcmp(a->addr.b, b->addr.b, a->addr.len) &&
	       a->kind == b->kind && a->port == b->port && a->port_end == b->port_end;
}

/**
 * ctl_choice_name() - word of a choice
 * @values: the words, NULL-ended
 * @value: number of the word
 *
 * Return: the word, or "unknown-" and the number, which a newer module may
 * send; overwritten by the next call then.
 */
const char *ctl_choice_name(const char *const *values, uint32_t value)
{
	static char unknown[24];
	uint32_t i;

	for (i = 0; values[i]; i++) {
		if (i == value)
			return values[i];
	}
	snprintf(unknown, sizeof(unknown), "unknown-%u", value);
	return unknown;
}

/* "off", or 1 to 3 digits, a dot, one or two digits. */
static int parse_hundredths(const char *what, const char *word, uint32_t *value)
{
	const size_t whole = strspn(word, "0123456789");
	const char *frac = word + whole + 1;
	uint32_t number = 0;
	size_t digits = 0, i;

	if (!strcmp(word, "off")) {
		*value = 0;
		return CTL_OK;
	}
	if (word[whole] == '.')
		digits = strspn(frac, "0123456789");
	if (!whole || whole > 3 || digits > 2 ||
	    (word[whole] && (word[whole] != '.' || !digits || frac[digits])))
		return ctl_usage("%s '%s': neither off nor a number with two decimals",
				 what, word);

	for (i = 0; i < whole; i++)
		number = 10 * number + (word[i] - '0');
	for (i = 0; i < 2; i++)
		number = 10 * number + (i < digits ? frac[i] - '0' : 0);
	/* On the wire that is "off". */
	if (!number)
		return ctl_usage("%s '%s': neither off nor above 1", what, word);

	*value = number;
	return CTL_OK;
}

/* The file holds the 16 bytes, or their 32 hex digits and a line end. */
static int read_seed(const char *word, uint8_t seed[CTL_SEED_BYTES])
{
	char buf[2 * CTL_SEED_BYTES + 8] = "";
	ssize_t len;
	int fd;

	fd = open(word + 1, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ctl_fail(errno, "seed %s: cannot open the file", word);
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len < 0)
		return ctl_fail(EIO, "seed %s: cannot read the file", word);

	if (len == CTL_SEED_BYTES) {
		memcpy(seed, buf, CTL_SEED_BYTES);
		return CTL_OK;
	}
	if (len < 2 * CTL_SEED_BYTES || !hex_bytes(buf, seed, CTL_SEED_BYTES) ||
	    strspn(buf + 2 * CTL_SEED_BYTES, "\r\n") + 2 * CTL_SEED_BYTES != (size_t)len)
		return ctl_usage("seed %s: the file holds neither 32 hex digits nor 16 bytes",
				 word);

	return CTL_OK;
}

static int parse_seed(const char *word, uint8_t seed[CTL_SEED_BYTES])
{
	if (!strcmp(word, "default")) {
		memcpy(seed, ctl_seed_default, CTL_SEED_BYTES);
		return CTL_OK;
	}
	if (*word == '@')
		return read_seed(word, seed);
	if (!hex_bytes(word, seed, CTL_SEED_BYTES) || word[2 * CTL_SEED_BYTES])
		return ctl_usage("seed '%s': not default, 32 hex digits or @FILE", word);

	return CTL_OK;
}

static int parse_address(const char *what, const char *word, struct ctl_addr *addr)
{
	struct ctl_endpoint ep;
	int ret;

	/* All zero: the kernel's way to say that there is none. */
	if (!strcmp(word, "default")) {
		*addr = (struct ctl_addr){ .len = 4 };
		return CTL_OK;
	}
	ret = ctl_parse_endpoint(word, &ep);
	if (!ret && ep.kind != CTL_PORT_NONE)
		ret = ctl_usage("%s '%s': takes no port", what, word);
	if (!ret)
		*addr = ep.addr;
	return ret;
}

static int parse_value(const struct ctl_keyword *kw, const char *word, void *obj)
{
	void *to = (char *)obj + kw->offset;

	switch (kw->kind) {
	case CTL_KW_NUMBER:
		return ctl_parse_number(kw->name, word, UINT32_MAX, to);
	case CTL_KW_CHOICE:
		return ctl_parse_choice(kw->name, word, kw->values, to);
	case CTL_KW_HUNDREDTHS:
		return parse_hundredths(kw->name, word, to);
	case CTL_KW_SEED:
		return parse_seed(word, to);
	case CTL_KW_STRING:
		*(const char **)to = word;
		return CTL_OK;
	case CTL_KW_PORT:
		return ctl_parse_number(kw->name, word, UINT16_MAX, to);
	case CTL_KW_ADDRESS:
		return parse_address(kw->name, word, to);
	case CTL_KW_FLAG:
		break;
	}
	return CTL_OK;
}

/**
 * ctl_keyword_find() - keyword by name
 * @table: keywords, ended by one without a name
 * @allowed: attribute bits of those that count
 * @word: the name
 *
 * Return: the keyword or NULL.
 */
const struct ctl_keyword *ctl_keyword_find(const struct ctl_keyword *table,
					   uint32_t allowed, const char *word)
{
	const struct ctl_keyword *kw;

	for (kw = table; kw->name; kw++) {
		if ((allowed & CTL_BIT(kw->attr)) && !strcmp(kw->name, word))
			return kw;
	}
	return NULL;
}

/**
 * ctl_parse_keywords() - the options at the end of a command
 * @table: keywords, ended by one without a name
 * @allowed: attribute bits of those that the command takes
 * @words: the words, NULL-ended
 * @obj: object that the keywords' offsets are in
 * @present: attribute bits of what was given
 *
 * Return: CTL_OK or CTL_USAGE; CTL_FAILED if a seed's file cannot be read.
 */
int ctl_parse_keywords(const struct ctl_keyword *table, uint32_t allowed,
		       char **words, void *obj, uint32_t *present)
{
	const struct ctl_keyword *kw;
	int ret;

	*present = 0;
	for (; *words; words++) {
		kw = ctl_keyword_find(table, allowed, *words);
		if (!kw)
			return ctl_usage("'%s': not an option here", *words);
		if (*present & CTL_BIT(kw->attr))
			return ctl_usage("%s: given twice", kw->name);
		*present |= CTL_BIT(kw->attr);
		if (kw->kind != CTL_KW_FLAG && !*++words)
			return ctl_usage("%s: value missing", kw->name);

		ret = parse_value(kw, *words, obj);
		if (ret)
			return ret;
	}

	return CTL_OK;
}
