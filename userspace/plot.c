// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures of rings: the ring itself, some of its arcs enlarged, and a bar a
 * backend.
 *
 * A ring has far more arcs than a picture has room for, and backends far
 * outnumber the colours that everybody can tell apart. So the ring is drawn in
 * strokes, each the first of as many arcs as it stands for; a few arcs are drawn
 * one by one; and numbers say who is who, colours only help. Those are the ones
 * of Okabe and Ito, which differ also to the colour-blind; what is marked, is
 * marked in black, by shape.
 */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "show.h"
#include "svg.h"

#define WIDTH		1000.0
#define MARGIN		20.0
#define STROKES		360
#define ZOOM		128
#define ZOOM_COLUMNS	32
#define ZOOM_CELL	15.5
#define ZOOM_LEFT	480.0
/* Height of the upper part, down to the bars. */
#define TOP_HEIGHT	486.0
/* Bars of one service; more of them nobody reads. */
#define ROWS_MAX	200
/* Services in one picture. */
#define FIGURES_MAX	16

static const char *const colours[] = {
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
};

/* On which of them black does not show. */
#define IS_DARK(colour)	((colour) == 0 || (colour) == 2 || (colour) == 5)
#define N_COLOURS	(sizeof(colours) / sizeof(colours[0]))
#define NOBODY_COLOUR	"#fff"

static const double ring_middle[2] = { 235, 265 };
static const double ring_radii[2] = { 125, 185 };
static const double former_radii[2] = { 92, 118 };
#define MARK_RADIUS	189
#define MARK_HEIGHT	24

/**
 * struct row - a backend
 * @number: what it goes by in the picture, from 1
 * @ep: its endpoint
 * @before: its share before, negative if it was not there
 * @after: its share, negative if it is gone
 * @target: the share that its weight asks for
 * @cap: the most that it may own, 0 for no limit
 * @score: how much there is to be seen
 */
struct row {
	uint32_t number;
	const struct ctl_endpoint *ep;
	double before;
	double after;
	double target;
	double cap;
	double score;
};

/**
 * struct figure - one service
 * @to: where it is drawn
 * @top: where it begins
 * @change: what becomes of it; of a ring as it is there is no before
 * @rows: its backends, in the order of identities
 * @n_rows: number of them
 * @n_shown: those of them that get a bar of their own
 * @before: number of each backend before
 * @after: number of each backend after
 * @columns: of bars
 * @most_moved: of a stroke's arcs, in the stroke where most move
 * @scale: the share at a bar's right end
 * @label: width of what stands before a bar
 */
struct figure {
	FILE *to;
	double top;
	const struct ctl_change *change;
	struct row *rows;
	uint32_t n_rows;
	uint32_t n_shown;
	uint16_t *before;
	uint16_t *after;
	uint32_t columns;
	double most_moved;
	double scale;
	double label;
};

static bool is_plan(const struct figure *fig)
{
	return fig->change->before.svc;
}

/* The side that says how things are in the end. */
static const struct ctl_arcs *main_side(const struct figure *fig)
{
	return fig->change->after.svc ? &fig->change->after : &fig->change->before;
}

static uint32_t count(const struct ctl_arcs *arcs)
{
	return arcs->svc ? arcs->svc->n : 0;
}

static const struct ctl_backend *backend(const struct ctl_arcs *arcs, uint32_t i)
{
	return i < count(arcs) ? &arcs->snap->backends[arcs->svc->first + i] : NULL;
}

/* As the ring has it: rounded down, but not below the fair share rounded up. */
static uint64_t cap(const struct ctl_service *svc, uint64_t weight, uint64_t total)
{
	const uint64_t part = svc->slots * weight;
	const uint64_t most = svc->balance * part / (100 * total);
	const uint64_t share = (part + total - 1) / total;

	return most > share ? most : share;
}

static void set_row(const struct figure *fig, struct row *row, const struct ctl_backend *a,
		    const struct ctl_backend *b)
{
	const struct ctl_arcs *side = main_side(fig);
	const struct ctl_backend *be = side == &fig->change->after ? b : a;
	const uint64_t total = ctl_total_weight(side->snap, side->svc);
	const uint64_t weight = be ? ctl_target_weight(be) : 0;
	const uint64_t slots = side->svc->slots;

	row->ep = a ? &a->ep : &b->ep;
	row->before = a ? (double)a->slots / fig->change->before.svc->slots : -1;
	row->after = b ? (double)b->slots / fig->change->after.svc->slots : -1;
	row->target = total ? (double)weight / total : 0;
	if (weight && side->svc->balance)
		row->cap = (double)cap(side->svc, weight, total) / slots;
	if (is_plan(fig))
		row->score = fabs(fmax(row->after, 0) - fmax(row->before, 0));
	else
		row->score = row->target > 0 ? fabs(row->after / row->target - 1) : 0;
}

/* Backends before and after, each once. */
static int make_rows(struct figure *fig)
{
	const struct ctl_arcs *before = &fig->change->before, *after = &fig->change->after;
	const uint32_t n = count(before), m = count(after);
	uint32_t i = 0, j = 0;
	int diff;

	fig->rows = calloc((size_t)n + m + 1, sizeof(*fig->rows));
	fig->before = calloc(n + 1, sizeof(*fig->before));
	fig->after = calloc(m + 1, sizeof(*fig->after));
	if (!fig->rows || !fig->before || !fig->after)
		return ctl_fail(ENOMEM, "out of memory");

	while (i < n || j < m) {
		const struct ctl_backend *a = backend(before, i), *b = backend(after, j);
		struct row *row = &fig->rows[fig->n_rows++];

		diff = !a ? 1 : !b ? -1 : ctl_endpoint_cmp(&a->ep, &b->ep);
		row->number = fig->n_rows;
		set_row(fig, row, diff <= 0 ? a : NULL, diff >= 0 ? b : NULL);
		if (diff <= 0)
			fig->before[i++] = row->number;
		if (diff >= 0)
			fig->after[j++] = row->number;
	}
	return CTL_OK;
}

/* Order by score, highest first, then by number. */
static int by_score(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * With more than ROWS_MAX backends, keep those of the highest score, in their
 * order.
 */
static void pick_rows(struct figure *fig)
{
	fig->n_shown = fig->n_rows;
	if (fig->n_rows <= ROWS_MAX)
		return;
	fig->n_shown = ROWS_MAX - 1;
	qsort(fig->rows, fig->n_rows, sizeof(*fig->rows), by_score);
	qsort(fig->rows, fig->n_shown, sizeof(*fig->rows), by_number);
}

/* Number of the owner of an arc, 0 for nobody. */
static uint32_t owner(const struct figure *fig, bool before, uint32_t arc)
{
	const struct ctl_arcs *arcs = before ? &fig->change->before : &fig->change->after;
	uint16_t index;

	if (!arcs->owners)
		return 0;
	index = arcs->owners[(uint64_t)arc * arcs->slots / fig->change->slots];
	if (index == CTL_NOBODY)
		return 0;
	return before ? fig->before[index] : fig->after[index];
}

static bool has_moved(const struct figure *fig, uint32_t arc)
{
	/* A new service has no arcs before, so none moves. */
	return fig->change->before.svc &&
	       (fig->change->rehashed || owner(fig, true, arc) != owner(fig, false, arc));
}

static uint32_t stroke_arc(const struct figure *fig, uint32_t stroke)
{
	return (uint64_t)stroke * fig->change->slots / STROKES;
}

/* The part of the arcs that a stroke stands for that move. */
static double part_moved(const struct figure *fig, uint32_t stroke)
{
	const uint32_t start = stroke_arc(fig, stroke), end = stroke_arc(fig, stroke + 1);
	uint32_t arc, moved = 0;

	for (arc = start; arc < end; arc++)
		moved += has_moved(fig, arc);
	return end > start ? (double)moved / (end - start) : 0;
}

static void measure(struct figure *fig)
{
	size_t longest = 8, len;
	uint32_t i, most;

	for (i = 0; i < STROKES; i++)
		fig->most_moved = fmax(fig->most_moved, part_moved(fig, i));

	for (i = 0; i < fig->n_rows; i++) {
		const struct row *row = &fig->rows[i];

		len = strlen(ctl_endpoint_text(row->ep));
		longest = len > longest ? len : longest;
		fig->scale = fmax(fig->scale, fmax(fmax(row->before, row->after),
						   fmax(row->target, row->cap)));
	}
	fig->scale = fig->scale > 0 ? fig->scale : 1;
	fig->columns = fig->n_shown <= 16 ? 1 : fig->n_shown <= 50 ? 2 : fig->n_shown <= 100 ? 3 : 4;
	fig->label = 40 + (fig->columns == 1 ? 6.5 : 5.4) * longest;
	most = (WIDTH - MARGIN) / (fig->label + 170);
	if (fig->columns > most)
		fig->columns = most ? most : 1;
}

static uint32_t bar_lines(const struct figure *fig)
{
	const uint32_t n = fig->n_shown + (fig->n_shown < fig->n_rows);

	return (n + fig->columns - 1) / fig->columns;
}

static double line_height(const struct figure *fig)
{
	return fig->columns == 1 ? 22 : 15;
}

static double figure_height(const struct figure *fig)
{
	return TOP_HEIGHT + 30 + bar_lines(fig) * line_height(fig) + MARGIN;
}

static const char *colour(uint32_t number)
{
	return number ? colours[(number - 1) % N_COLOURS] : NOBODY_COLOUR;
}

/* One path a backend: its strokes; those side by side are one piece. */
static void draw_ring(const struct figure *fig, bool before, const double radii[2])
{
	const double middle[2] = { ring_middle[0], fig->top + ring_middle[1] };
	uint32_t number, at, end;
	bool begun;

	for (number = 0; number <= fig->n_rows; number++) {
		begun = false;
		for (at = 0; at < STROKES; at = end) {
			const uint32_t mine = owner(fig, before, stroke_arc(fig, at));

			for (end = at + 1; end < STROKES; end++) {
				if (owner(fig, before, stroke_arc(fig, end)) != mine)
					break;
			}
			if (mine != number)
				continue;
			if (!begun)
				fprintf(fig->to, "<path fill=\"%s\" d=\"", colour(number));
			begun = true;
			ctl_svg_sector(fig->to, middle, radii,
				       (double[]){ (double)at / STROKES, (double)end / STROKES });
		}
		if (begun)
			fputs("\"/>\n", fig->to);
	}
}

/* Around the ring, as high as the part of a stroke's arcs that moves. */
static void draw_marks(const struct figure *fig)
{
	const double middle[2] = { ring_middle[0], fig->top + ring_middle[1] };
	double moved;
	uint32_t i;

	fprintf(fig->to, "<circle cx=\"%g\" cy=\"%g\" r=\"%d\" fill=\"none\" stroke=\"#000\" stroke-width=\".5\"/>\n<path d=\"",
		middle[0], middle[1], MARK_RADIUS);
	for (i = 0; i < STROKES; i++) {
		moved = part_moved(fig, i);
		if (moved > 0)
			ctl_svg_sector(fig->to, middle,
				       (double[]){ MARK_RADIUS, MARK_RADIUS + MARK_HEIGHT * moved /
						   fig->most_moved },
				       (double[]){ (double)i / STROKES, (i + 1.0) / STROKES });
	}
	fputs("\"/>\n", fig->to);
}

/* The part that is enlarged: where most moves, else the first. */
static uint32_t zoom_start(const struct figure *fig)
{
	uint32_t start, at, moved, most = 0, best = 0;

	for (start = 0; start + ZOOM <= fig->change->slots; start += ZOOM) {
		moved = 0;
		for (at = start; at < start + ZOOM; at++)
			moved += has_moved(fig, at);
		if (moved > most) {
			most = moved;
			best = start;
		}
	}
	return best;
}

static void draw_number(const struct figure *fig, const double middle[2], uint32_t number,
			double size)
{
	const bool white = number && IS_DARK((number - 1) % N_COLOURS);

	if (!number)
		return;
	fprintf(fig->to, "<g font-size=\"%g\" fill=\"%s\">", number < 100 ? size : 0.75 * size,
		white ? "#fff" : "#000");
	ctl_svg_text(fig->to, middle, CTL_SVG_MIDDLE, "%u", number);
	fputs("</g>\n", fig->to);
}

static void draw_cell(const struct figure *fig, uint32_t arc, double x, double y)
{
	const double w = ZOOM_CELL;
	const uint32_t a = owner(fig, true, arc), b = owner(fig, false, arc);
	const bool moved = has_moved(fig, arc);
	const char *edge = "stroke=\"#fff\" stroke-width=\".7\"";

	if (!moved) {
		ctl_svg_rect(fig->to, (double[]){ x, y + 11, w, 22 }, colour(b), edge);
		draw_number(fig, (double[]){ x + w / 2, y + 26 }, b, 10);
		return;
	}
	ctl_svg_rect(fig->to, (double[]){ x, y, w, 22 }, colour(a), edge);
	draw_number(fig, (double[]){ x + w / 2, y + 15 }, a, 10);
	ctl_svg_rect(fig->to, (double[]){ x, y + 22, w, 22 }, colour(b), edge);
	draw_number(fig, (double[]){ x + w / 2, y + 37 }, b, 10);
	ctl_svg_rect(fig->to, (double[]){ x + 0.8, y, w - 1.6, 44 }, "none",
		     "stroke=\"#000\" stroke-width=\"1.6\"");
}

static void draw_zoom(const struct figure *fig)
{
	const uint32_t start = zoom_start(fig);
	const double middle[2] = { ring_middle[0], fig->top + ring_middle[1] };
	const double inside = is_plan(fig) ? former_radii[0] : ring_radii[0];
	const double top = fig->top + 210, step = is_plan(fig) ? 52 : 34;
	uint32_t i;

	ctl_svg_text(fig->to, (double[]){ ZOOM_LEFT, top - 12 }, CTL_SVG_START,
		     "Arcs %u to %u (black, within the ring), each with its owner%s", start,
		     start + ZOOM - 1, is_plan(fig) && fig->change->moved ?
		     ". Framed: moved" : "");
	for (i = 0; i < ZOOM; i++)
		draw_cell(fig, start + i, ZOOM_LEFT + i % ZOOM_COLUMNS * ZOOM_CELL,
			  top + i / ZOOM_COLUMNS * step);
	/* Mark the enlarged sector on the ring. */
	fputs("<path stroke=\"#000\" d=\"", fig->to);
	ctl_svg_sector(fig->to, middle, (double[]){ inside - 12, inside - 3 },
		       (double[]){ (double)start / fig->change->slots,
				   (double)(start + ZOOM) / fig->change->slots });
	fputs("\"/>\n", fig->to);
}

static void write_head(const struct figure *fig)
{
	const struct ctl_change *change = fig->change;
	const struct ctl_arcs *side = main_side(fig);
	const double peak = ctl_peak(side->snap, side->svc);
	char balance[32] = "";

	if (side->svc->balance)
		snprintf(balance, sizeof(balance), ", balance %u.%02u", side->svc->balance / 100,
			 side->svc->balance % 100);
	fprintf(fig->to, "<g font-size=\"20\" font-weight=\"bold\">");
	ctl_svg_text(fig->to, (double[]){ MARGIN, fig->top + 32 }, CTL_SVG_START, "%s%s",
		     change->name, !is_plan(fig) ? "" : !change->after.svc ?
		     ": removed" : change->rehashed ? ": every flow dealt anew" : "");
	fputs("</g>\n", fig->to);
	ctl_svg_text(fig->to, (double[]){ WIDTH - MARGIN, fig->top + 32 }, CTL_SVG_END,
		     "%u backends, %u arcs%s, digest %016llx", side->svc->n, side->svc->slots, balance,
		     (unsigned long long)side->svc->digest);
	fprintf(fig->to, "<g font-size=\"15\">");
	if (peak >= 0)
		ctl_svg_text(fig->to, (double[]){ ZOOM_LEFT, fig->top + 80 }, CTL_SVG_START,
			     "Busiest backend: %.3f times its target", peak);
	if (is_plan(fig))
		ctl_svg_text(fig->to, (double[]){ ZOOM_LEFT, fig->top + 102 }, CTL_SVG_START,
			     "Moved: %.2f%% of the hash space; unavoidable: %.2f%%",
			     100.0 * change->moved / change->slots,
			     100.0 * change->unavoidable / change->slots);
	fputs("</g>\n", fig->to);
}

static void write_captions(const struct figure *fig)
{
	double at[2] = { ZOOM_LEFT, fig->top + 128 };

	ctl_svg_text(fig->to, at, CTL_SVG_START,
		     "The ring, clockwise from the top: of every %.3g arcs the first, by its owner",
		     (double)fig->change->slots / STROKES);
	at[1] += 16;
	if (is_plan(fig)) {
		ctl_svg_text(fig->to, at, CTL_SVG_START,
			     "Outer ring: after. Inner ring: before. Black, around it: how many of them move,");
		at[1] += 16;
		ctl_svg_text(fig->to, at, CTL_SVG_START, "%.3g%% where it is highest",
			     100 * fig->most_moved);
		at[1] += 16;
	}
	ctl_svg_text(fig->to, at, CTL_SVG_START,
		     fig->n_rows > N_COLOURS ? "Colours repeat; numbers are those of the bars below" :
		     "Colours and numbers are those of the bars below");
}

/* The end of an address tells more than its beginning. */
static void write_label(const struct figure *fig, double x, double y, const struct row *row)
{
	const double size = line_height(fig) > 20 ? 11 : 9.5;

	ctl_svg_rect(fig->to, (double[]){ x, y + 1.5, 24, line_height(fig) - 3 },
		     colour(row->number), "");
	draw_number(fig, (double[]){ x + 12, y + line_height(fig) / 2 + 4 }, row->number, size);
	fprintf(fig->to, "<g font-size=\"%g\">", size);
	ctl_svg_text(fig->to, (double[]){ x + 29, y + line_height(fig) / 2 + 4 }, CTL_SVG_START,
		     "%s", ctl_endpoint_text(row->ep));
	fputs("</g>\n", fig->to);
}

static void write_share(const struct figure *fig, double right, double y, const struct row *row)
{
	const double at[2] = { right, y + line_height(fig) / 2 + 4 };
	char before[16] = "-", after[16] = "gone";

	if (row->before >= 0)
		snprintf(before, sizeof(before), "%.2f", 100 * row->before);
	if (row->after >= 0)
		snprintf(after, sizeof(after), "%.2f%%", 100 * row->after);
	fprintf(fig->to, "<g font-size=\"%g\">", line_height(fig) > 20 ? 11 : 9.5);
	if (!is_plan(fig))
		ctl_svg_text(fig->to, at, CTL_SVG_END, "%s", after);
	else
		ctl_svg_text(fig->to, at, CTL_SVG_END, "%s \xe2\x86\x92 %s", before, after);
	fputs("</g>\n", fig->to);
}

static void draw_bar(const struct figure *fig, uint32_t i)
{
	const uint32_t lines = bar_lines(fig);
	const double column = (WIDTH - 2 * MARGIN + 14) / fig->columns, h = line_height(fig);
	const double x = MARGIN + i / lines * column, y = fig->top + TOP_HEIGHT + 30 + i % lines * h;
	const double left = x + fig->label;
	const double right = x + column - (is_plan(fig) ? 122 : 72);
	const double unit = (right - left) / fig->scale;
	const struct row *row = &fig->rows[i];

	write_label(fig, x, y, row);
	if (row->before > 0)
		ctl_svg_rect(fig->to, (double[]){ left, y + 2, unit * row->before, h - 4 }, "none",
			     "stroke=\"#000\" stroke-width=\".8\"");
	if (row->after > 0)
		ctl_svg_rect(fig->to, (double[]){ left, y + h / 4, unit * row->after, h / 2 },
			     colour(row->number), "");
	if (row->target > 0)
		ctl_svg_line(fig->to, left + unit * row->target, y, y + h, "stroke-width=\"2\"");
	if (row->cap > 0)
		ctl_svg_line(fig->to, left + unit * row->cap, y, y + h,
			     "stroke-width=\"1.5\" stroke-dasharray=\"2 2\"");
	write_share(fig, right + (is_plan(fig) ? 104 : 54), y, row);
}

/* Sum up the backends without a bar in one line. */
static void write_others(const struct figure *fig)
{
	const uint32_t i = fig->n_shown, lines = bar_lines(fig);
	const double column = (WIDTH - 2 * MARGIN + 14) / fig->columns, h = line_height(fig);
	double low = 1, high = 0, sum = 0;
	uint32_t at;

	for (at = i; at < fig->n_rows; at++) {
		const double share = fmax(fig->rows[at].after, 0);

		low = fmin(low, share);
		high = fmax(high, share);
		sum += share;
	}
	fputs("<g font-size=\"9.5\">", fig->to);
	ctl_svg_text(fig->to, (double[]){ MARGIN + i / lines * column,
					  fig->top + TOP_HEIGHT + 30 + i % lines * h + 11 },
		     CTL_SVG_START, "%u more: %.3f%% to %.3f%% each, %.2f%% in all", fig->n_rows - i,
		     100 * low, 100 * high, 100 * sum);
	fputs("</g>\n", fig->to);
}

static void draw_key(const struct figure *fig)
{
	const double y = fig->top + TOP_HEIGHT;
	double x = MARGIN;

	ctl_svg_rect(fig->to, (double[]){ x, y + 4, 40, 9 }, colours[0], "");
	ctl_svg_text(fig->to, (double[]){ x + 46, y + 13 }, CTL_SVG_START, "share of new flows%s",
		     is_plan(fig) ? " after" : "");
	x += 190;
	if (is_plan(fig)) {
		ctl_svg_rect(fig->to, (double[]){ x, y + 2, 40, 13 }, "none",
			     "stroke=\"#000\" stroke-width=\".8\"");
		ctl_svg_text(fig->to, (double[]){ x + 46, y + 13 }, CTL_SVG_START, "share before");
		x += 140;
	}
	ctl_svg_line(fig->to, x, y, y + 16, "stroke-width=\"2\"");
	ctl_svg_text(fig->to, (double[]){ x + 6, y + 13 }, CTL_SVG_START, "target");
	x += 70;
	if (main_side(fig)->svc->balance) {
		ctl_svg_line(fig->to, x, y, y + 16, "stroke-width=\"1.5\" stroke-dasharray=\"2 2\"");
		ctl_svg_text(fig->to, (double[]){ x + 6, y + 13 }, CTL_SVG_START, "cap");
		x += 60;
	}
	if (fig->n_shown < fig->n_rows)
		ctl_svg_text(fig->to, (double[]){ x, y + 13 }, CTL_SVG_START, "of %u backends those %s",
			     fig->n_rows, is_plan(fig) ? "whose share changes most" :
			     "furthest off their target");
}

static void draw_figure(const struct figure *fig)
{
	uint32_t i;

	write_head(fig);
	write_captions(fig);
	draw_ring(fig, !fig->change->after.svc, ring_radii);
	if (is_plan(fig)) {
		draw_ring(fig, true, former_radii);
		draw_marks(fig);
	}
	draw_zoom(fig);
	draw_key(fig);
	for (i = 0; i < fig->n_shown; i++)
		draw_bar(fig, i);
	if (fig->n_shown < fig->n_rows)
		write_others(fig);
}

static void free_figure(struct figure *fig)
{
	free(fig->rows);
	free(fig->before);
	free(fig->after);
}

static int make_figure(struct figure *fig, const struct ctl_change *change)
{
	int ret;

	fig->change = change;
	ret = make_rows(fig);
	if (!ret) {
		pick_rows(fig);
		measure(fig);
	}
	return ret;
}

/* One beneath the other. */
static int draw(FILE *to, struct figure *figs, uint32_t n, uint32_t left_out)
{
	double height = left_out || !n ? 40 : 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		figs[i].to = to;
		figs[i].top = height;
		height += figure_height(&figs[i]);
	}
	ctl_svg_begin(to, WIDTH, height);
	if (left_out || !n)
		ctl_svg_text(to, (double[]){ MARGIN, 28 }, CTL_SVG_START,
			     n ? "%u more services are touched and not drawn" : "nothing is touched",
			     left_out);
	for (i = 0; i < n; i++)
		draw_figure(&figs[i]);
	ctl_svg_end(to);
	return ferror(to) ? -1 : 0;
}

static int plot(FILE *to, const char *name, const struct ctl_change *changes, uint32_t n)
{
	const uint32_t shown = n < FIGURES_MAX ? n : FIGURES_MAX;
	struct figure figs[FIGURES_MAX] = {};
	int ret = CTL_OK;
	uint32_t i;

	for (i = 0; !ret && i < shown; i++)
		ret = make_figure(&figs[i], &changes[i]);
	errno = 0;
	if (!ret && draw(to, figs, shown, n - shown))
		ret = ctl_fail(errno ? errno : EIO, "%s: write failed", name);
	for (i = 0; i < shown; i++)
		free_figure(&figs[i]);
	return ret;
}

/**
 * ctl_plot_ring() - draw a service's ring on standard output
 * @arcs: service and its arcs
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_plot_ring(const struct ctl_arcs *arcs)
{
	const struct ctl_change change = {
		.name = arcs->svc->name,
		.after = *arcs,
		.slots = arcs->slots,
	};

	return plot(stdout, "standard output", &change, 1);
}

/**
 * ctl_plot_changes() - draw what becomes of services
 * @file: name of the file, "-" for standard output
 * @changes: what becomes of them
 * @n: number of them
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_plot_changes(const char *file, const struct ctl_change *changes, uint32_t n)
{
	FILE *to;
	int ret;

	if (!strcmp(file, "-"))
		return plot(stdout, "standard output", changes, n);

	to = fopen(file, "we");
	if (!to)
		return ctl_fail(errno, "%s: cannot write", file);
	ret = plot(to, file, changes, n);
	errno = 0;
	if (fclose(to) && !ret)
		ret = ctl_fail(errno ? errno : EIO, "%s: cannot write", file);
	return ret;
}
