/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few shapes that pictures are made of.
 */
#ifndef CHCTL_SVG_H
#define CHCTL_SVG_H

#include <stdio.h>

/* How a text stands to its place. */
enum ctl_svg_anchor {
	CTL_SVG_START,
	CTL_SVG_MIDDLE,
	CTL_SVG_END,
};

void ctl_svg_begin(FILE *to, double width, double height);
void ctl_svg_end(FILE *to);
void ctl_svg_rect(FILE *to, const double box[4], const char *fill, const char *more);
void ctl_svg_line(FILE *to, double x, double y1, double y2, const char *more);
void ctl_svg_sector(FILE *to, const double middle[2], const double radii[2],
		    const double turns[2]);
__attribute__((format(printf, 4, 5)))
void ctl_svg_text(FILE *to, const double at[2], enum ctl_svg_anchor anchor, const char *fmt, ...);

#endif /* CHCTL_SVG_H */
