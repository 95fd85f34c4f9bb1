/* The sums over a table's steps that its areas are. */

#include "kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) /* or clones would disagree how to hand on such vectors */

enum { LANES = 8 };

/* A sum of numbers, exact in two parts; the third, of what is below both, is rounded far below the last bit of all. */
struct total {
    double leading, middle, rest;
};

/* Numbers side by side: the order in which a compiler may not add up those of one sum. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

INLINE lanes lanes_at(const double *column)
{
    lanes numbers;
    memcpy(&numbers, column, sizeof numbers);
    return numbers;
}

INLINE double sum_of(lanes numbers)
{
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += numbers[lane];
    return sum;
}

/* Add numbers >= 0. What leads is a multiple of the last bit of `anchor`, and of the rest, of either sign, of half that of
   `below`.

   The columns go on with zeros to a multiple of LANES. */
WIDE static void add_up(int64_t size, const double *column, double anchor, double below, struct total *total)
{
    lanes leading = {0}, middle = {0}, rest = {0};
    for (int64_t at = 0; at < size; at += LANES) {
        const lanes numbers = lanes_at(column + at), first = (numbers + anchor) - anchor, left = numbers - first;
        const lanes second = (left + below) - below;
        leading += first;
        middle += second;
        rest += left - second;
    }
    total->leading += sum_of(leading);
    total->middle += sum_of(middle);
    total->rest += sum_of(rest);
}

/* Columns of some climbs, the steps along which tp grows. */
struct climbs {
    double tp[PIECE], tp_after[PIECE], fp[PIECE], fp_after[PIECE];
    double before[PIECE + LANES], after[PIECE + LANES], average[PIECE + LANES], integral[PIECE + LANES];
    double beside[PIECE + LANES];
};

WIDE static int64_t select_climbs(int64_t steps, const double *restrict tp, const double *restrict fp,
                                  struct climbs *restrict to)
{
    int64_t count = 0;
    int32_t rows[PIECE];
    for (int32_t row = 0; row < steps; row++) {
        rows[count] = row;
        count += tp[row + 1] > tp[row];
    }
    for (int64_t at = 0; at < count; at++) {
        const int32_t row = rows[at];
        to->tp[at] = tp[row];
        to->tp_after[at] = tp[row + 1];
        to->fp[at] = fp[row];
        to->fp_after[at] = fp[row + 1];
    }
    return count;
}

/* Fill the other columns, as climbs.py has them. Tells whether a z is above its limit, and the integral without meaning.

   Climbs are upright where as many more are called as tp grows by: then z is climb / below, to the last bit. */
INLINE bool fill_climbs(int64_t count, double limit, bool upright, struct climbs *restrict of)
{
    int64_t large = 0;
    for (int64_t at = 0; at < count; at++) {
        const double called = of->tp[at] + of->fp[at], called_after = of->tp_after[at] + of->fp_after[at];
        const double climb = of->tp_after[at] - of->tp[at], both = of->tp[at] + of->tp_after[at];
        const double below = called_after + called, z = (called_after - called) / below, square = z * z;
        const double series = ((square * (1.0 / 7) + 1.0 / 5) * square + 1.0 / 3) * z;
        of->before[at] = of->tp[at] / (called > DBL_MIN ? called : DBL_MIN);
        of->after[at] = of->tp_after[at] / called_after;
        of->average[at] = climb * of->after[at];
        of->beside[at] = climb * (of->fp[at] + of->fp_after[at]);
        of->integral[at] = ((z * both - climb) * series + both) * (upright ? z : climb / below);
        large |= z > limit;
    }
    if (of->tp[0] == 0 && of->fp[0] == 0)
        of->before[0] = of->after[0];
    for (int64_t at = count; at < count + LANES; at++)
        of->before[at] = of->after[at] = of->average[at] = of->integral[at] = of->beside[at] = 0;
    return large;
}

WIDE static bool measure_climbs(int64_t count, double limit, struct climbs *restrict of)
{
    int64_t leaning = 0;
    for (int64_t at = 0; at < count; at++)
        leaning |= (of->tp_after[at] + of->fp_after[at]) - (of->tp[at] + of->fp[at]) != of->tp_after[at] - of->tp[at];
    return leaning ? fill_climbs(count, limit, false, of) : fill_climbs(count, limit, true, of);
}

/* Fill in the integrals for which z is too large for the series. */
static void integrate_large(int64_t count, double limit, struct climbs *restrict of)
{
    for (int64_t at = 0; at < count; at++) {
        const double called = of->tp[at] + of->fp[at], called_after = of->tp_after[at] + of->fp_after[at];
        const double growth = called_after - called, climb = of->tp_after[at] - of->tp[at];
        if (growth / (called_after + called) <= limit)
            continue;
        const double x = growth / called < DBL_MAX ? growth / called : DBL_MAX, logarithm = log1p(x);
        of->integral[at] = (climb / growth) * (of->tp[at] * logarithm + climb * (1 - logarithm / x));
    }
}

/* Twice the area of the trapezoids beside the climbs: under fp, over tp. */
WIDE static double doubled_area_beside(int64_t count, const struct climbs *of)
{
    lanes area = {0};
    for (int64_t at = 0; at < count; at += LANES)
        area += lanes_at(of->beside + at);
    return sum_of(area);
}

/* Sum over the steps of a table of whole counts.

   sums    the totals of integral, average, before and after over the climbs; then twice the area of the trapezoids
           under tp over fp, exact where 2 P N is up to 2^53.
   high    the rows before climbs of more than one positive; there is room for all steps. Returns how many there are. */
int64_t rocpr_sums(int64_t steps, const double *tp, const double *fp, double positives, double limit, double *sums,
                   int64_t *high)
{
    struct climbs climbs;
    struct total totals[4] = {{0}};
    const double *const columns[4] = {climbs.integral, climbs.average, climbs.before, climbs.after};
    /* No total is above the positives but for rounding, for which there is room, and no column has more climbs than
       there are positives or steps. */
    int power, many;
    frexp(positives, &power);
    frexp(fmin(positives, (double)steps), &many);
    const double anchor = ldexp(1.0, power), below = ldexp(1.0, power + many - 52);
    int64_t count_high = 0;
    double beside = 0;
    for (int64_t start = 0; start < steps; start += PIECE) {
        const int64_t size = steps - start < PIECE ? steps - start : PIECE;
        const int64_t count = select_climbs(size, tp + start, fp + start, &climbs);
        if (count == 0)
            continue;
        if (measure_climbs(count, limit, &climbs))
            integrate_large(count, limit, &climbs);
        for (int column = 0; column < 4; column++)
            add_up(count, columns[column], anchor, below, &totals[column]);
        beside += doubled_area_beside(count, &climbs);
        if (climbs.tp_after[count - 1] - climbs.tp[0] == (double)count)
            continue;
        for (int64_t row = start; row < start + size; row++) {
            high[count_high] = row;
            count_high += tp[row + 1] - tp[row] > 1;
        }
    }
    memcpy(sums, totals, sizeof totals);
    /* Under the curve and beside it is all of the rectangle. */
    sums[12] = 2 * (tp[steps] * fp[steps] - tp[0] * fp[0]) - beside;
    return count_high;
}
