// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mode nat: destination translation by nf_nat, flows kept by nf_conntrack.
 *
 * nf_nat calls "choose" and "masquerade" for the first packet of a flow only,
 * so the choice is made once a flow and conntrack does the rest. "choose" goes
 * by the addresses in the packet, not in its conntrack entry: the hook is
 * entered again for resets that answer a packet and share its entry.
 */
#include "nat.h"

#include "netns.h"
#include "packet.h"
#include "reject.h"
#include "stats.h"

#include <linux/netfilter.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_l4proto.h>
#include <net/netfilter/nf_conntrack_tuple.h>
#include <net/netfilter/nf_conntrack_zones.h>
#include <net/netfilter/nf_nat.h>
#include <net/netfilter/nf_nat_masquerade.h>
#include <net/ip.h>
#include <net/tcp.h>

static void addr_from_nf(union chs_addr *addr, const union nf_inet_addr *from,
			 bool v6)
{
	if (v6)
		memcpy(addr->b, from->ip6, sizeof(addr->b));
	else
		chs_addr_set_v4(addr, from->ip);
}

static void addr_to_nf(union nf_inet_addr *addr, const union chs_addr *from)
{
	if (chs_addr_is_v4(from))
		addr->ip = from->w[3];
	else
		memcpy(addr->ip6, from->b, sizeof(addr->ip6));
}

static bool is_v6(const struct nf_hook_state *state)
{
	return state->pf == NFPROTO_IPV6;
}

/**
 * chs_nat_tuple() - what the client of a connection sends to
 * @ct: connection
 * @tuple: where its tuple goes
 *
 * Context: any, with a reference to @ct or under RCU.
 * Return: false if it is of no protocol that can be steered.
 */
bool chs_nat_tuple(const struct nf_conn *ct, struct chs_tuple *tuple)
{
	const struct nf_conntrack_tuple *orig =
		&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple;
	u8 proto = orig->dst.protonum;

	if (proto != IPPROTO_TCP && proto != IPPROTO_UDP &&
	    proto != IPPROTO_SCTP)
		return false;

	memset(tuple, 0, sizeof(*tuple));
	tuple->v6 = orig->src.l3num == NFPROTO_IPV6;
	tuple->proto = proto;
	addr_from_nf(&tuple->saddr, &orig->src.u3, tuple->v6);
	addr_from_nf(&tuple->daddr, &orig->dst.u3, tuple->v6);
	tuple->sport = orig->src.u.all;
	tuple->dport = orig->dst.u.all;
	return true;
}

/**
 * chs_nat_backend() - backend of a service that a connection is translated to
 * @svc: service
 * @ct: connection
 * @dport: port that its client sends to
 *
 * Context: under RCU, or with the namespace's lock held.
 * Return: the backend; NULL if it is none of @svc.
 */
const struct chs_backend *chs_nat_backend(const struct chs_service *svc,
					  const struct nf_conn *ct,
					  __be16 dport)
{
	const struct nf_conntrack_tuple *reply =
		&ct->tuplehash[IP_CT_DIR_REPLY].tuple;
	union chs_addr addr;

	addr_from_nf(&addr, &reply->src.u3, reply->src.l3num == NFPROTO_IPV6);
	return chs_backend_find_reached(svc, &addr, reply->src.u.all, dport);
}

static void tuple_to_nf(struct nf_conntrack_tuple *to,
			const struct chs_tuple *from)
{
	memset(to, 0, sizeof(*to));
	to->src.l3num = from->v6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	to->dst.protonum = from->proto;
	addr_to_nf(&to->src.u3, &from->saddr);
	addr_to_nf(&to->dst.u3, &from->daddr);
	to->src.u.all = from->sport;
	to->dst.u.all = from->dport;
}

/*
 * Whether a SYN or INIT begins another connection: see nat_before(). An
 * association that is aborted is CLOSED, too.
 */
static bool has_ended(const struct nf_conn *ct)
{
	u8 state;

	switch (nf_ct_protonum(ct)) {
	case IPPROTO_TCP:
		state = READ_ONCE(ct->proto.tcp.state);
		return state == TCP_CONNTRACK_TIME_WAIT ||
		       state == TCP_CONNTRACK_CLOSE;
	case IPPROTO_SCTP:
		return READ_ONCE(ct->proto.sctp.state) == SCTP_CONNTRACK_CLOSED;
	default:
		return false;
	}
}

/* The connection of which one end sends so, with a reference, or NULL. */
static struct nf_conn *find(struct net *net,
			    const struct nf_conntrack_zone *zone,
			    const struct chs_tuple *tuple,
			    enum ip_conntrack_dir *dir)
{
	struct nf_conntrack_tuple_hash *found;
	struct nf_conntrack_tuple nf_tuple;

	tuple_to_nf(&nf_tuple, tuple);
	found = nf_conntrack_find_get(net, zone, &nf_tuple);
	if (!found)
		return NULL;

	*dir = NF_CT_DIRECTION(found);
	return nf_ct_tuplehash_to_ctrack(found);
}

/* The connection whose client sends so, with a reference, or NULL. */
static struct nf_conn *find_original(struct net *net,
				     const struct nf_conntrack_zone *zone,
				     const struct chs_tuple *tuple)
{
	enum ip_conntrack_dir dir;
	struct nf_conn *ct = find(net, zone, tuple, &dir);

	if (!ct || dir == IP_CT_DIR_ORIGINAL)
		return ct;
	nf_ct_put(ct);
	return NULL;
}

/**
 * struct zone_search - search for a connection in the zones of conntrack
 * @tuple: what its client sends
 * @best: that of the lowest zone so far, with a reference, or NULL
 */
struct zone_search {
	struct nf_conntrack_tuple tuple;
	struct nf_conn *best;
};

static u16 zone_of(const struct nf_conn *ct)
{
	return nf_ct_zone_id(nf_ct_zone(ct), IP_CT_DIR_ORIGINAL);
}

/* Called under the lock of a hash bucket, with bottom halves off. */
static int search_one(struct nf_conn *ct, void *data)
{
	struct zone_search *search = data;

	if (!nf_ct_tuple_equal(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple,
			       &search->tuple) ||
	    (search->best && zone_of(search->best) < zone_of(ct)))
		return 0;

	/* It is in the table, which holds a reference. */
	nf_conntrack_get(&ct->ct_general);
	if (search->best)
		nf_ct_put(search->best);
	search->best = ct;
	/* 1 would delete it. */
	return 0;
}

/**
 * chs_nat_find() - connection that conntrack knows
 * @net: network namespace
 * @tuple: what its client sends
 * @zone: zone of conntrack, or -1 for any: the lowest that has such a connection
 *
 * The table is hashed by the zone as well, so that all of it is walked if the
 * default zone does not have the connection and any other may.
 *
 * Context: process; sleeps.
 * Return: the connection, with a reference, or NULL.
 */
struct nf_conn *chs_nat_find(struct net *net, const struct chs_tuple *tuple,
			     s32 zone)
{
	struct zone_search search = {};
	struct nf_ct_iter_data data = { .net = net, .data = &search };
	struct nf_conntrack_zone one;
	struct nf_conn *ct;

	nf_ct_zone_init(&one, zone < 0 ? NF_CT_DEFAULT_ZONE_ID : zone,
			NF_CT_DEFAULT_ZONE_DIR, 0);
	rcu_read_lock();
	ct = find_original(net, &one, tuple);
	rcu_read_unlock();
	if (ct || zone >= 0 || !IS_ENABLED(CONFIG_NF_CONNTRACK_ZONES))
		return ct;

	tuple_to_nf(&search.tuple, tuple);
	nf_ct_iterate_cleanup_net(search_one, &data);
	return search.best;
}

/**
 * chs_nat_lookup() - where conntrack would send a packet
 * @ct: its connection
 * @tuple: flow of the packet, for a service in mode nat
 * @established: whether it belongs to a flow already running
 * @verdict: what the ring says; overruled if @ct is the service's
 *
 * Context: under RCU, with a reference to @ct.
 */
void chs_nat_lookup(const struct nf_conn *ct, const struct chs_tuple *tuple,
		    bool established, struct chs_verdict *verdict)
{
	const struct chs_backend *backend;

	if (!(ct->status & IPS_DST_NAT) || (!established && has_ended(ct)))
		return;

	backend = chs_nat_backend(verdict->svc, ct, tuple->dport);
	if (backend) {
		verdict->backend = backend;
		verdict->reason = CHS_REASON_CONNTRACK;
	}
}

/* The service in mode nat that a packet is for, by what the packet says. */
static const struct chs_service *service_of(const struct chs_table *table,
					    const struct sk_buff *skb,
					    const struct nf_hook_state *state,
					    struct chs_packet *pkt)
{
	const struct chs_service *svc;

	if (chs_steer_bridged(skb) || chs_steer_foreign(state))
		return NULL;

	chs_packet_parse(skb, is_v6(state), pkt);
	if (pkt->kind != CHS_PACKET_FLOW && pkt->kind != CHS_PACKET_ICMP_ERROR)
		return NULL;

	svc = chs_steer_service(table, &pkt->tuple, 0);
	return svc && svc->mode == CHS_MODE_NAT ? svc : NULL;
}

/*
 * Conntrack drops a packet for which its table has no room before any later
 * hook sees it. Whether it has room only conntrack can tell, for it may make
 * some; so it is asked for an entry, which is given back at once.
 */
static bool has_room(struct net *net, const struct nf_conntrack_zone *zone,
		     const struct chs_tuple *tuple)
{
	struct nf_conntrack_tuple orig, reply;
	enum ip_conntrack_dir dir;
	struct nf_conn *ct;

	ct = find(net, zone, tuple, &dir);
	if (ct) {
		nf_ct_put(ct);
		return true;
	}

	tuple_to_nf(&orig, tuple);
	if (!nf_ct_invert_tuple(&reply, &orig))
		return true;
	ct = nf_conntrack_alloc(net, zone, &orig, &reply,
				GFP_ATOMIC | __GFP_NOWARN);
	if (IS_ERR(ct))
		return false;
	nf_conntrack_free(ct);
	return true;
}

static bool tcp_is_syn_or_rst(const struct sk_buff *skb, int off)
{
	const struct tcphdr *tcp;
	struct tcphdr buf;

	tcp = skb_header_pointer(skb, off, sizeof(buf), &buf);
	return tcp && (tcp->rst || (tcp->syn && !tcp->ack));
}

static bool sctp_is_init(const struct sk_buff *skb, int off)
{
	const struct sctp_chunkhdr *chunk;
	struct sctp_chunkhdr buf;

	chunk = skb_header_pointer(skb, off + sizeof(struct sctphdr),
				   sizeof(buf), &buf);
	return chunk && chunk->type == SCTP_CID_INIT;
}

/*
 * Whether a packet opens a connection of TCP or SCTP, or resets one of TCP: a
 * look that every one can afford.
 */
static bool opens_or_resets(const struct sk_buff *skb, bool v6)
{
	int off = skb_network_offset(skb);
	u8 proto;

	if (v6) {
		proto = ipv6_hdr(skb)->nexthdr;
		off += sizeof(struct ipv6hdr);
	} else {
		proto = ip_hdr(skb)->protocol;
		off += ip_hdrlen(skb);
	}
	if (proto == IPPROTO_TCP)
		return tcp_is_syn_or_rst(skb, off);
	return proto == IPPROTO_SCTP && sctp_is_init(skb, off);
}

/*
 * A SYN or INIT on a port whose connection has ended follows the ring. Conntrack
 * sees to that in most cases of TCP, but not where a late packet came after a
 * reset; it has an association that is closed begin once more in its old entry.
 */
static void forget_ended(struct net *net, const struct nf_conntrack_zone *zone,
			 const struct chs_tuple *tuple)
{
	struct nf_conn *ct = find_original(net, zone, tuple);

	if (!ct)
		return;
	if (has_ended(ct))
		nf_ct_kill(ct);
	nf_ct_put(ct);
}

/* The service in mode nat that a connection was steered by, or NULL. */
static const struct chs_service *steered_by(const struct chs_table *table,
					    const struct nf_conn *ct)
{
	const struct chs_service *svc;
	struct chs_tuple tuple;

	if (!(ct->status & IPS_DST_NAT) || !chs_nat_tuple(ct, &tuple))
		return NULL;

	svc = chs_steer_service(table, &tuple, 0);
	if (!svc || svc->mode != CHS_MODE_NAT ||
	    !chs_nat_backend(svc, ct, tuple.dport))
		return NULL;
	return svc;
}

/*
 * Conntrack believes a reset by its sequence number. Of a connection that was in
 * a flowtable it knows none of now, and would go on taking it for established.
 * The flowtable, as it hands the connection back, has conntrack forget both
 * windows, and since Linux 6.14 what was acknowledged too; before, that is left
 * to us.
 */
static void forget_acked(struct nf_conn *ct)
{
	struct ip_ct_tcp_state *seen = ct->proto.tcp.seen;
	unsigned int i;

	spin_lock_bh(&ct->lock);
	/* Each end by itself: one may have sent something since. */
	for (i = 0; i < IP_CT_DIR_MAX; i++) {
		if (!seen[i].td_maxwin)
			seen[i].flags &= ~IP_CT_TCP_FLAG_MAXACK_SET;
	}
	spin_unlock_bh(&ct->lock);
}

/* A reset, from either end. */
static void before_reset(const struct chs_table *table, struct net *net,
			 const struct nf_conntrack_zone *zone,
			 const struct chs_tuple *tuple)
{
	enum ip_conntrack_dir dir;
	struct nf_conn *ct = find(net, zone, tuple, &dir);

	if (!ct)
		return;
	if (steered_by(table, ct))
		forget_acked(ct);
	nf_ct_put(ct);
}

static unsigned int nat_before(const struct chs_table *table,
			       struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct chs_packet pkt = { .kind = CHS_PACKET_OTHER };
	unsigned int max = READ_ONCE(nf_conntrack_max);
	const struct nf_conntrack_zone *zone;
	struct nf_conntrack_zone by_mark;
	const struct chs_service *svc;
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *tmpl;
	bool full;

	full = max && nf_conntrack_count(state->net) >= max;
	if (likely(!full) && !opens_or_resets(skb, is_v6(state)))
		return NF_ACCEPT;

	/* As conntrack does: what it has seen, or is not to see, it leaves alone. */
	tmpl = nf_ct_get(skb, &ctinfo);
	if (ctinfo == IP_CT_UNTRACKED || (tmpl && !nf_ct_is_template(tmpl)))
		return NF_ACCEPT;
	zone = nf_ct_zone_tmpl(tmpl, skb, &by_mark);

	svc = service_of(table, skb, state, &pkt);
	if (pkt.kind == CHS_PACKET_FLOW && pkt.rst &&
	    pkt.tuple.proto == IPPROTO_TCP)
		before_reset(table, state->net, zone, &pkt.tuple);
	if (!svc || pkt.kind != CHS_PACKET_FLOW)
		return NF_ACCEPT;
	if (pkt.syn)
		forget_ended(state->net, zone, &pkt.tuple);
	if (full && !has_room(state->net, zone, &pkt.tuple))
		return chs_refuse(skb, state, svc, CHS_DROP_CONNTRACK_FULL);
	return NF_ACCEPT;
}

static bool translate(struct nf_conn *ct, const struct chs_backend *backend,
		      __be16 dport)
{
	struct nf_nat_range2 range = { .flags = NF_NAT_RANGE_MAP_IPS };

	addr_to_nf(&range.min_addr, &backend->id.addr);
	range.max_addr = range.min_addr;
	if (chs_steer_port(backend, dport) != dport) {
		range.flags |= NF_NAT_RANGE_PROTO_SPECIFIED;
		range.min_proto.all = backend->id.port;
		range.max_proto.all = backend->id.port;
	}
	return nf_nat_setup_info(ct, &range, NF_NAT_MANIP_DST) == NF_ACCEPT;
}

static unsigned int nat_choose(const struct chs_table *table,
			       struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	const struct chs_service *svc;
	enum ip_conntrack_info ctinfo;
	struct chs_verdict verdict;
	struct chs_packet pkt;
	struct nf_conn *ct;

	svc = service_of(table, skb, state, &pkt);
	if (!svc || pkt.kind != CHS_PACKET_FLOW)
		return NF_ACCEPT;

	chs_steer_ring(svc, &pkt.tuple, &verdict);
	if (!verdict.backend)
		return chs_refuse_empty(skb, state, svc);

	ct = nf_ct_get(skb, &ctinfo);
	if (!translate(ct, verdict.backend, pkt.tuple.dport))
		return chs_refuse(skb, state, svc, CHS_DROP_NAT_FAILED);

	/*
	 * A flow may come to this host in its middle, or see its replies go
	 * another way: windows are the endpoints' business.
	 */
	if (svc->proto == IPPROTO_TCP)
		nf_ct_set_tcp_be_liberal(ct);

	chs_stats_flow(svc->counters);
	chs_stats_flow(verdict.backend->counters);
	return NF_ACCEPT;
}

/* Translated by nf_nat: count the packet if the translation is a service's. */
static unsigned int guard_known(const struct chs_table *table,
				const struct sk_buff *skb,
				const struct nf_conn *ct)
{
	const struct chs_backend *backend;
	const struct chs_service *svc;
	struct chs_tuple tuple;

	if (!chs_nat_tuple(ct, &tuple))
		return NF_ACCEPT;

	svc = chs_steer_service(table, &tuple, 0);
	if (!svc || svc->mode != CHS_MODE_NAT)
		return NF_ACCEPT;

	backend = chs_nat_backend(svc, ct, tuple.dport);
	if (backend) {
		chs_stats_packet(svc->counters, skb->len);
		chs_stats_packet(backend->counters, skb->len);
	}
	return NF_ACCEPT;
}

/*
 * Not translated: drop the packet, counted, if it is for a service that should
 * have translated it.
 */
static unsigned int guard_stray(const struct chs_table *table,
				struct sk_buff *skb,
				const struct nf_hook_state *state,
				const struct nf_conn *ct,
				enum ip_conntrack_info ctinfo)
{
	const struct chs_service *svc;
	struct chs_packet pkt;

	svc = service_of(table, skb, state, &pkt);
	if (!svc)
		return NF_ACCEPT;

	if (pkt.kind == CHS_PACKET_ICMP_ERROR) {
		if (!ct)
			chs_stats_event(svc->stats, CHS_EVENT_ICMP_UNMATCHED);
		return NF_ACCEPT;
	}

	/*
	 * on-empty pass: an untranslated flow began while no backend was
	 * usable; it belongs to the local host.
	 */
	if (svc->on_empty == CHS_ON_EMPTY_PASS && (ct || svc->empty)) {
		chs_stats_event(svc->stats, CHS_EVENT_PASSED);
		return NF_ACCEPT;
	}
	if (ct)
		return chs_refuse(skb, state, svc, CHS_DROP_UNTRANSLATED);
	if (ctinfo == IP_CT_UNTRACKED)
		return chs_refuse(skb, state, svc, CHS_DROP_UNTRACKED);
	return chs_refuse(skb, state, svc, CHS_DROP_INVALID);
}

static unsigned int nat_guard(const struct chs_table *table,
			      struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);

	/* A reply, to whichever end it goes, is its connection's business. */
	if (ct && CTINFO2DIR(ctinfo) != IP_CT_DIR_ORIGINAL)
		return NF_ACCEPT;
	if (!ct || !(ct->status & IPS_DST_NAT))
		return guard_stray(table, skb, state, ct, ctinfo);
	if (ctinfo == IP_CT_RELATED)
		return NF_ACCEPT;
	return guard_known(table, skb, ct);
}

/**
 * chs_nat_demux() - hook that takes away a socket that is not a packet's
 * @priv: unused
 * @skb: packet
 * @state: the hook's state
 *
 * Early demux goes by the addresses before translation: a reply to a flow of
 * this host's own may so be given to a socket that is connected to the backend
 * itself. nf_nat takes it away again for IPv4, but in 6.1 not for IPv6.
 *
 * Context: netfilter hook at LOCAL_IN; under RCU.
 * Return: NF_ACCEPT.
 */
unsigned int chs_nat_demux(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct;

	if (likely(!skb->sk) || inet_sk_transparent(skb->sk))
		return NF_ACCEPT;

	ct = nf_ct_get(skb, &ctinfo);
	if (ct && (ct->status & IPS_DST_NAT) &&
	    CTINFO2DIR(ctinfo) == IP_CT_DIR_REPLY)
		skb_orphan(skb);
	return NF_ACCEPT;
}

/* Whether the source of a new flow is to be translated as well. */
static bool wants_masquerade(const struct chs_table *table,
			     const struct nf_conn *ct)
{
	const struct chs_service *svc = steered_by(table, ct);

	return svc && svc->masquerade;
}

static const struct chs_table *table_of(void *priv)
{
	const struct chs_net *cn = priv;

	return rcu_dereference(cn->table);
}

/**
 * chs_nat_masquerade() - hook that translates the source of a new flow
 * @priv: struct chs_net
 * @skb: packet
 * @state: the hook's state
 *
 * Context: netfilter hook at POST_ROUTING, in nf_nat's list; under RCU.
 * Return: verdict.
 */
unsigned int chs_nat_masquerade(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct nf_nat_range2 range = {};
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);

	if (!wants_masquerade(table_of(priv), ct))
		return NF_ACCEPT;
	if (is_v6(state))
		return nf_nat_masquerade_ipv6(skb, &range, state->out);
	return nf_nat_masquerade_ipv4(skb, state->hook, &range, state->out);
}

/*
 * The hooks themselves. A process that sends, or gives back what a queue of
 * netfilter's had it look at, comes with bottom halves on, and counters want them
 * off.
 */
#define CHS_NAT_HOOK(name)						\
unsigned int chs_##name(void *priv, struct sk_buff *skb,		\
			const struct nf_hook_state *state)		\
{									\
	bool on = !softirq_count();					\
	unsigned int verdict;						\
									\
	if (on)								\
		local_bh_disable();					\
	verdict = name(table_of(priv), skb, state);			\
	if (on)								\
		local_bh_enable();					\
	return verdict;							\
}

CHS_NAT_HOOK(nat_before)
CHS_NAT_HOOK(nat_choose)
CHS_NAT_HOOK(nat_guard)

/**
 * chs_nat_init() - once at load
 *
 * Context: process; may sleep.
 * Return: 0 or negative errno.
 */
int chs_nat_init(void)
{
	return nf_nat_masquerade_inet_register_notifiers();
}

/**
 * chs_nat_exit() - once at unload
 *
 * Context: process; may sleep.
 */
void chs_nat_exit(void)
{
	nf_nat_masquerade_inet_unregister_notifiers();
}
