/* The upper convex hull of a table's rows, in counts. */

#include "kernel.h"

#include <math.h>

__extension__ typedef __int128 product;

#define LARGEST_EXACT_INTEGER 0x1p53

/* A row of a table in count space. */
struct point {
    double tp, fp;
};

static inline struct point point_of(const double *tp, const double *fp, int64_t row)
{
    return (struct point){tp[row], fp[row]};
}

/* Positive if b lies above the chord from a to c, 0 if on it; the sign is exact for whole counts up to 2^53.

   Differences of counts are exact and rounding is monotone, so rounded products that differ compare like the exact ones. */
static inline double orientation(struct point a, struct point b, struct point c)
{
    const double up = b.tp - a.tp, across = b.fp - a.fp, rise = c.tp - a.tp, run = c.fp - a.fp;
    const double left = up * run, right = across * rise;
    if (left != right || fabs(left) < LARGEST_EXACT_INTEGER)
        return left - right;
    const product exactly = (product)(int64_t)up * (int64_t)run - (product)(int64_t)across * (int64_t)rise;
    return (double)((exactly > 0) - (exactly < 0));
}

/* Write the vertices of the upper hull of `count` rows in order, whose first and last rows differ.

   Equal rows count once, as the first of them. Return the number of vertices (Andrew 1979). */
static int64_t upper_hull(int64_t count, const int64_t *rows, const double *tp, const double *fp, int64_t *vertices)
{
    int64_t size = 1;
    vertices[0] = rows[0];
    struct point last = point_of(tp, fp, rows[0]), before = last;
    for (int64_t place = 1; place < count; place++) {
        const struct point next = point_of(tp, fp, rows[place]);
        if (next.tp == last.tp && next.fp == last.fp)
            continue;
        while (size > 1 && orientation(before, last, next) <= 0) {
            size--;
            last = before;
            before = point_of(tp, fp, vertices[size > 1 ? size - 2 : 0]);
        }
        vertices[size++] = rows[place];
        before = last;
        last = next;
    }
    return size;
}

/* Write the rows after a, up to b, except those that are certainly below the chord from a to b; return how many. */
static int64_t outside(const double *restrict tp, const double *restrict fp, int64_t a, int64_t b,
                       int64_t *restrict rows)
{
    const double tp_a = tp[a], fp_a = fp[a], rise = tp[b] - tp_a, run = fp[b] - fp_a;
    int64_t count = 0;
    for (int64_t row = a + 1; row <= b; row++) {
        rows[count] = row;
        count += (fp[row] - fp_a) * rise <= (tp[row] - tp_a) * run;
    }
    return count;
}

/* Write the vertices of the upper hull of rows in order, and `outer`, rows that include every row on it.

   The first and last rows differ. Both outputs have room for all rows; `sizes` gets their lengths. First compute the hull of
   every `spacing`-th row: rows below that are not on the hull of all. */
void rocpr_hull(int64_t rows, int64_t spacing, const double *tp, const double *fp, int64_t *vertices, int64_t *outer,
                int64_t *sizes)
{
    const int64_t end = rows - 1;
    int64_t some = 0, near = 1;
    for (int64_t row = 0; row < end; row += spacing)
        outer[some++] = row;
    outer[some++] = end;
    int64_t size = upper_hull(some, outer, tp, fp, vertices);
    vertices[size - 1] = end; /* or a row equal to this one */
    outer[0] = 0;
    for (int64_t corner = 1; corner < size; corner++)
        near += outside(tp, fp, vertices[corner - 1], vertices[corner], outer + near);
    sizes[0] = upper_hull(near, outer, tp, fp, vertices);
    sizes[1] = near;
}

/* Write the `outer` rows that lie on a hull of two or more vertices; return how many. */
int64_t rocpr_boundary(int64_t count, const int64_t *restrict outer, int64_t size, const int64_t *restrict vertices,
                       const double *restrict tp, const double *restrict fp, int64_t *restrict boundary)
{
    struct point before = point_of(tp, fp, vertices[0]), after = point_of(tp, fp, vertices[1]);
    int64_t on = 0, edge = 1;
    for (int64_t place = 0; place < count; place++) {
        const int64_t row = outer[place];
        while (edge < size - 1 && row > vertices[edge]) {
            before = after;
            after = point_of(tp, fp, vertices[++edge]);
        }
        boundary[on] = row;
        on += row == vertices[edge] || orientation(before, point_of(tp, fp, row), after) == 0;
    }
    return on;
}
