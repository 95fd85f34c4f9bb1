/* Sums over a table's steps; its areas are computed from them. */

#include "kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) /* or clones would disagree on how to pass these vectors */

enum { LANES = 8 };

/* Up to this z, the integral uses a series, as in positive_steps.py. */
#define LARGEST_IN_SERIES (1.0 / 17)

/* Splits a double into halves, as in exact.py. */
#define SPLITTER 134217729.0

/* A sum in three parts: two are exact; the third adds the remainders, and its rounding is far below the sum's last bit. */
struct total {
    double leading, middle, rest;
};

/* Partial sums side by side, because the compiler may not reorder the additions of a single sum. */
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

/* Add numbers >= 0. The leading part is a multiple of the last bit of `anchor`. The middle part, of either sign, is a
   multiple of half the last bit of `below`.

   Columns are padded with zeros to a multiple of LANES. */
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

/* What rounding took from a product (Dekker's, as in exact.py). */
INLINE double lost(double a, double b, double product)
{
    const double scaled_a = a * SPLITTER, scaled_b = b * SPLITTER;
    const double a_high = scaled_a - (scaled_a - a), b_high = scaled_b - (scaled_b - b);
    const double a_low = a - a_high, b_low = b - b_high;
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/* Columns of some positive steps: steps along which tp grows. */
struct steps {
    double tp[PIECE], tp_after[PIECE], fp[PIECE], fp_after[PIECE];
    double before[PIECE + LANES], after[PIECE + LANES], average[PIECE + LANES], integral[PIECE + LANES];
    double beside[PIECE + LANES], average_rest[PIECE + LANES];
};

WIDE static int64_t select_steps(int64_t rows, const double *restrict tp, const double *restrict fp,
                                 struct steps *restrict to)
{
    int64_t count = 0;
    int32_t positive[PIECE];
    for (int32_t row = 0; row < rows; row++) {
        positive[count] = row;
        count += tp[row + 1] > tp[row];
    }
    for (int64_t at = 0; at < count; at++) {
        const int32_t row = positive[at];
        to->tp[at] = tp[row];
        to->tp_after[at] = tp[row + 1];
        to->fp[at] = fp[row];
        to->fp_after[at] = fp[row + 1];
    }
    return count;
}

/* Fill the other columns, as in positive_steps.py. Returns whether any z is too large for the series. */
WIDE static bool fill_steps(int64_t count, struct steps *restrict of)
{
    int64_t large = 0;
    for (int64_t at = 0; at < count; at++) {
        const double called = of->tp[at] + of->fp[at], called_after = of->tp_after[at] + of->fp_after[at];
        const double growth = of->tp_after[at] - of->tp[at], below = called_after + called;
        const double z = (called_after - called) / below, share = growth / below, square = z * z;
        const double higher = ((square * (2.0 / 13) + 2.0 / 11) * square + 2.0 / 9) * square + 2.0 / 7;
        const double series = ((higher * square + 2.0 / 5) * square + 2.0 / 3) * z;
        of->before[at] = of->tp[at] / (called > DBL_MIN ? called : DBL_MIN);
        of->after[at] = of->tp_after[at] / called_after;
        of->average[at] = growth * of->after[at];
        const double back = of->after[at] * called_after, missed = lost(of->after[at], called_after, back);
        of->average_rest[at] = lost(growth, of->after[at], of->average[at])
                               + growth * (((of->tp_after[at] - back) - missed) / called_after);
        of->beside[at] = growth * (of->fp[at] + of->fp_after[at]);
        of->integral[at] = ((of->tp[at] * z - called * share) * series + (of->tp[at] + of->tp_after[at])) * share;
        large |= z > LARGEST_IN_SERIES;
    }
    if (of->tp[0] == 0 && of->fp[0] == 0)
        of->before[0] = of->after[0];
    for (int64_t at = count; at < count + LANES; at++)
        of->before[at] = of->after[at] = of->average[at] = of->integral[at] = of->beside[at]
            = of->average_rest[at] = 0;
    return large;
}

/* Compute the integrals whose z is too large for the series. */
static void integrate_large(int64_t count, struct steps *restrict of)
{
    for (int64_t at = 0; at < count; at++) {
        const double called = of->tp[at] + of->fp[at], called_after = of->tp_after[at] + of->fp_after[at];
        const double growth = called_after - called, below = called_after + called, z = growth / below;
        if (z <= LARGEST_IN_SERIES)
            continue;
        const double x = growth / called < DBL_MAX ? growth / called : DBL_MAX, logarithm = (log1p(x) / z - 2) / z;
        const double share = (of->tp_after[at] - of->tp[at]) / below;
        of->integral[at] = ((of->tp[at] * z - called * share) * logarithm + (of->tp[at] + of->tp_after[at])) * share;
    }
}

/* The plain sum of a column, padded likewise. */
WIDE static double plain_sum(int64_t size, const double *column)
{
    lanes sum = {0};
    for (int64_t at = 0; at < size; at += LANES)
        sum += lanes_at(column + at);
    return sum_of(sum);
}

/* Sum over the positive steps of a table of whole counts.

   sums    the totals of integral, average, before and after; then twice the area of the trapezoids, tp integrated over fp,
           exact if 2 P N is at most 2^53. */
void rocpr_sums(int64_t rows, const double *tp, const double *fp, double positives, double *sums)
{
    struct steps steps;
    struct total totals[4] = {{0}};
    const double *const columns[4] = {steps.integral, steps.average, steps.before, steps.after};
    /* No total exceeds the positives except by rounding, which leaves room for it, and no column has more steps than there
       are positives or rows. */
    int power, many;
    frexp(positives, &power);
    frexp(fmin(positives, (double)rows), &many);
    const double anchor = ldexp(1.0, power), below = ldexp(1.0, power + many - 52);
    double beside = 0;
    for (int64_t start = 0; start < rows; start += PIECE) {
        const int64_t size = rows - start < PIECE ? rows - start : PIECE;
        const int64_t count = select_steps(size, tp + start, fp + start, &steps);
        if (count == 0)
            continue;
        if (fill_steps(count, &steps))
            integrate_large(count, &steps);
        for (int column = 0; column < 4; column++)
            add_up(count, columns[column], anchor, below, &totals[column]);
        totals[1].rest += plain_sum(count, steps.average_rest);
        beside += plain_sum(count, steps.beside); /* twice the area beside the steps: fp integrated over tp */
    }
    memcpy(sums, totals, sizeof totals);
    /* The area under the curve and the area beside it add up to the rectangle. */
    sums[12] = 2 * (tp[rows] * fp[rows] - tp[0] * fp[0]) - beside;
}
