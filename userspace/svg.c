// SPDX-License-Identifier: GPL-2.0-only
/*
 * The few shapes that pictures are made of, as SVG.
 *
 * Nothing that is drawn needs escaping: names of services and endpoints hold no
 * character that means something to XML.
 */
#include "svg.h"

#include <math.h>
#include <stdarg.h>

/**
 * ctl_svg_begin() - begin a picture
 * @to: where to
 * @width: its width
 * @height: its height
 */
void ctl_svg_begin(FILE *to, double width, double height)
{
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
		"viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height, width, height);
}

/**
 * ctl_svg_end() - end a picture
 * @to: where to
 */
void ctl_svg_end(FILE *to)
{
	fputs("</svg>\n", to);
}

/**
 * ctl_svg_rect() - draw a rectangle
 * @to: where to
 * @box: left, top, width, height
 * @fill: colour
 * @more: further attributes
 */
void ctl_svg_rect(FILE *to, const double box[4], const char *fill, const char *more)
{
	fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"%s%s/>\n",
		box[0], box[1], box[2], box[3], fill, *more ? " " : "", more);
}

/**
 * ctl_svg_line() - draw a line straight down
 * @to: where to
 * @x: where it is
 * @y1: where it begins
 * @y2: where it ends
 * @more: further attributes
 */
void ctl_svg_line(FILE *to, double x, double y1, double y2, const char *more)
{
	fprintf(to, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#000\"%s%s/>\n", x, y1, y2,
		*more ? " " : "", more);
}

static void point(FILE *to, char command, const double middle[2], double radius, double turn)
{
	const double angle = 2 * M_PI * turn;

	fprintf(to, "%c%.1f %.1f", command, middle[0] + radius * sin(angle),
		middle[1] - radius * cos(angle));
}

/**
 * ctl_svg_sector() - a piece of a ring, within the d of a path
 * @to: where to
 * @middle: of the ring
 * @radii: inner and outer radius
 * @turns: where it begins and ends, clockwise from the top, in turns
 */
void ctl_svg_sector(FILE *to, const double middle[2], const double radii[2],
		    const double turns[2])
{
	/* A whole turn would end where it begins, and be nothing. */
	const double end = turns[1] - turns[0] < 0.999 ? turns[1] : turns[0] + 0.999;
	const int large = end - turns[0] > 0.5;

	point(to, 'M', middle, radii[0], turns[0]);
	point(to, 'L', middle, radii[1], turns[0]);
	fprintf(to, "A%g %g 0 %d 1", radii[1], radii[1], large);
	point(to, ' ', middle, radii[1], end);
	point(to, 'L', middle, radii[0], end);
	fprintf(to, "A%g %g 0 %d 0", radii[0], radii[0], large);
	point(to, ' ', middle, radii[0], turns[0]);
	fputs("Z", to);
}

/**
 * ctl_svg_text() - write something
 * @to: where to
 * @at: left or middle or right, and the line that it stands on
 * @anchor: which of the three
 * @fmt: what
 */
void ctl_svg_text(FILE *to, const double at[2], enum ctl_svg_anchor anchor, const char *fmt, ...)
{
	static const char *const anchors[] = {
		"", " text-anchor=\"middle\"", " text-anchor=\"end\""
	};
	va_list ap;

	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\"%s>", at[0], at[1], anchors[anchor]);
	va_start(ap, fmt);
	vfprintf(to, fmt, ap);
	va_end(ap);
	fputs("</text>\n", to);
}
