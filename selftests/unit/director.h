/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A director with one service, as the module acts around kmod/affinity.c: it
 * publishes versions, remembers flows and settles arcs, but has no packets, no
 * ring and no clock of its own.
 */
#ifndef DIRECTOR_H
#define DIRECTOR_H

#include "affinity.h"

#define DIRECTOR_ARCS	2
#define DIRECTOR_SLOTS	5
#define DIRECTOR_TUPLES	4
/* Versions that a packet may still have in its hands. */
#define DIRECTOR_OLD	2

enum protocol { TCP, UDP, SCTP };

/* A backend is named by its slot and how often that was filled. */
#define BACKEND(slot, life)	((__u16)((slot) | (life) << 3))
#define BACKEND_SLOT(id)	((id) & 7)

struct version {
	u32 generation;
	enum chsteer_affinity affinity;
	u32 window;
	u32 timeout;
	u32 max_flows;
	struct {
		__u16 id;
		enum chs_health health;
	} slots[DIRECTOR_SLOTS];
	struct {
		__u16 owner;
		enum chs_arc_state state;
		struct chs_heritage heritage;
	} arcs[DIRECTOR_ARCS];
};

/* A flow that is remembered. */
struct entry {
	bool used;
	bool unconfirmed;
	bool ended;
	bool established;
	bool begun;
	__u16 backend;
	__u16 previous;
	u32 seq;
	u32 last;
};

struct director {
	enum protocol protocol;
	u32 n_arcs;
	u32 now;
	struct version version;
	struct version old[DIRECTOR_OLD];
	u32 n_old;
	struct entry entries[DIRECTOR_TUPLES];
	/* When each slot last stopped draining. */
	u32 freed[DIRECTOR_SLOTS];
};

/**
 * struct arrival - a packet that arrives
 * @tuple: which flow, if any, it belongs to
 * @role: what it is to it
 * @cookie: it is a COOKIE ECHO
 * @no_memory: what is to be created cannot
 * @seq: sequence number
 * @old: decided by the version so many publications back
 */
struct arrival {
	u32 tuple;
	enum chs_role role;
	bool cookie;
	bool no_memory;
	u32 seq;
	u32 old;
};

/**
 * struct outcome - what became of it
 * @version: the version that decided
 * @choice: what that was
 * @backend: where it went, or CHS_RING_NONE
 * @remembered: there was an entry
 * @failed: it was not remembered for lack of room or memory
 * @evicted: tuple whose entry made room, or -1
 */
struct outcome {
	const struct version *version;
	struct chs_choice choice;
	__u16 backend;
	bool remembered;
	bool failed;
	int evicted;
};

static inline u32 director_arc(const struct director *dir, u32 tuple)
{
	return tuple % dir->n_arcs;
}

enum chs_health version_health(const struct version *version, __u16 id);

/* @next's owners, backends and options are taken, arcs shift. */
void director_publish(struct director *dir, const struct version *next);
/* What the module does now and then: mark arcs that are over, and, when no
 * packet can have seen them open, forget what is stale.
 */
void director_close(struct director *dir);
void director_sweep(struct director *dir);
void director_flush(struct director *dir);
void director_packet(struct director *dir, const struct arrival *packet,
		     struct outcome *out);

/* Where the arc's packets go that are not remembered and are no SYN. */
__u16 director_default(const struct director *dir, u32 arc);

#endif /* DIRECTOR_H */
