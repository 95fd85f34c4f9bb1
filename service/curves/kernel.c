/* The loops of an unweighted evaluation that take the most time in NumPy: one pass each, where NumPy takes many.

   Every number is made by the operations that the NumPy of the caller does, in their order, so that it has the same
   bits: nothing may be contracted or reassociated. Sums are taken here where every order of them is exact. Nothing is
   allocated and nothing is checked here: service/curves/compiled.py, the only caller, sees to that. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The widest vectors that the processor has; which ones makes no difference to a number. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

static const uint64_t SIGN = UINT64_C(1) << 63;

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Make doubles that sort like the scores times `scale`, all below 1.5, and carry the label in their last bit.

   Tells whether every score comes back from that scale. */
WIDE bool rocpr_keys(int64_t rows, const double *restrict scores, const uint8_t *restrict labels, double scale,
                     bool with_sign, bool descending, double *restrict keys)
{
    const uint64_t kept = with_sign ? SIGN : 0, turned = descending ? SIGN : 0;
    uint64_t lost = 0;
    for (int64_t row = 0; row < rows; row++)
        keys[row] = double_of(
            (bits_of(scores[row] * scale) << 1 | (labels[row] != 0) | (bits_of(scores[row]) & kept)) ^ turned);
    for (int64_t row = 0; row < rows && scale != 1; row++)
        lost |= scores[row] * scale / scale != scores[row];
    return !lost;
}

/* Columns are looked at so many rows at a time, which stay in the processor's nearest cache. */
enum { PIECE = 512, LANES = 8 };

/* The score of a key before it is divided by its scale; -0.0 and 0.0 are one. */
static inline double score_of(double key, uint64_t kept, uint64_t turned)
{
    const uint64_t bits = bits_of(key) ^ turned;
    return double_of((bits & ~SIGN) >> 1 | (bits & kept)) + 0.0;
}

/* Write a row for each distinct score of sorted keys, behind a first one that calls nothing; returns how many.

   The columns thresholds, tp and fp have room for one more row than there are keys, one after the other. */
WIDE int64_t rocpr_groups(int64_t rows, const double *restrict keys, double scale, bool with_sign, bool descending,
                          double *restrict columns)
{
    double *restrict thresholds = columns, *restrict tp = thresholds + rows + 1, *restrict fp = tp + rows + 1;
    const uint64_t kept = with_sign ? SIGN : 0, turned = descending ? SIGN : 0;
    int64_t group = 1, hits = 0;
    double scores[PIECE + 1];
    thresholds[0] = NAN;
    tp[0] = fp[0] = 0;
    for (int64_t start = 0; start < rows; start += PIECE) {
        const int64_t size = rows - start < PIECE ? rows - start : PIECE;
        int64_t repeated = 0;
        for (int64_t at = 0; at < size; at++)
            scores[at] = score_of(keys[start + at], kept, turned);
        scores[size] = start + size < rows ? score_of(keys[start + size], kept, turned) : NAN;
        for (int64_t at = 0; at < size; at++)
            repeated |= scores[at] == scores[at + 1];
        if (repeated) {
            for (int64_t at = 0; at < size; at++) {
                hits += (int64_t)(bits_of(keys[start + at]) & 1);
                /* Written again by the next row of the same score: a write costs less than a branch. */
                thresholds[group] = scores[at] / scale;
                tp[group] = (double)hits;
                fp[group] = (double)(start + at + 1 - hits);
                group += scores[at] != scores[at + 1];
            }
            continue;
        }
        for (int64_t at = 0; at < size && scale != 1; at++)
            scores[at] /= scale;
        memcpy(thresholds + group, scores, (size_t)size * sizeof *scores);
        for (int64_t at = 0; at < size; at++) {
            hits += (int64_t)(bits_of(keys[start + at]) & 1);
            tp[group + at] = (double)hits;
            fp[group + at] = (double)(start + at + 1 - hits);
        }
        group += size;
    }
    return group;
}

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

/* Positive when b lies above the chord from a to c, 0 when on it; the sign is exact, for whole counts up to 2^53.

   Differences of counts are exact and rounding is monotone, so that products which differ rounded differ as they do. */
static inline double side(struct point a, struct point b, struct point c)
{
    const double rise = b.tp - a.tp, run = c.fp - a.fp, reach = b.fp - a.fp, climb = c.tp - a.tp;
    const double left = rise * run, right = reach * climb;
    if (left != right || fabs(left) < LARGEST_EXACT_INTEGER)
        return left - right;
    const product exactly = (product)(int64_t)rise * (int64_t)run - (product)(int64_t)reach * (int64_t)climb;
    return (double)((exactly > 0) - (exactly < 0));
}

/* Write those of `count` rows in order, the first and the last of which differ, that are vertices of their upper hull.

   Of equal rows it has the first. Returns how many there are (Andrew 1979). */
static int64_t upper_hull(int64_t count, const int64_t *rows, const double *tp, const double *fp, int64_t *vertices)
{
    int64_t size = 1;
    vertices[0] = rows[0];
    struct point last = point_of(tp, fp, rows[0]), before = last;
    for (int64_t place = 1; place < count; place++) {
        const struct point next = point_of(tp, fp, rows[place]);
        if (next.tp == last.tp && next.fp == last.fp)
            continue;
        while (size > 1 && side(before, last, next) <= 0) {
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

/* Write the rows after a, up to b, but those that are surely under the chord between the two; returns how many. */
static int64_t outside(const double *restrict tp, const double *restrict fp, int64_t a, int64_t b,
                       int64_t *restrict rows)
{
    const double tp_a = tp[a], fp_a = fp[a], climb = tp[b] - tp_a, run = fp[b] - fp_a;
    int64_t count = 0;
    for (int64_t row = a + 1; row <= b; row++) {
        rows[count] = row;
        count += (fp[row] - fp_a) * climb <= (tp[row] - tp_a) * run;
    }
    return count;
}

/* Write the vertices of the upper hull of rows in order, and `outer` rows among which all are that lie on it.

   The first and the last row differ. There is room for all rows in both; `sizes` is how many were written. First comes
   the hull of every so manieth row: what is under it is on no hull. */
void rocpr_hull(int64_t rows, int64_t spacing, const double *tp, const double *fp, int64_t *vertices, int64_t *outer,
                int64_t *sizes)
{
    const int64_t end = rows - 1;
    int64_t some = 0, near = 1;
    for (int64_t row = 0; row < end; row += spacing)
        outer[some++] = row;
    outer[some++] = end;
    int64_t size = upper_hull(some, outer, tp, fp, vertices);
    vertices[size - 1] = end; /* or a row that this one repeats */
    outer[0] = 0;
    for (int64_t corner = 1; corner < size; corner++)
        near += outside(tp, fp, vertices[corner - 1], vertices[corner], outer + near);
    sizes[0] = upper_hull(near, outer, tp, fp, vertices);
    sizes[1] = near;
}

/* Write those of the `outer` rows of a hull, which has two vertices or more, that lie on it; returns how many. */
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
        on += row == vertices[edge] || side(before, point_of(tp, fp, row), after) == 0;
    }
    return on;
}

/* Write the columns fn, tn, fpr, tpr and precision of a table, one after the other. */
WIDE void rocpr_points(int64_t rows, const double *restrict tp, const double *restrict fp, double positives,
                       double negatives, double *restrict columns)
{
    double *restrict fn = columns, *restrict tn = fn + rows, *restrict fpr = tn + rows, *restrict tpr = fpr + rows,
                     *restrict precision = tpr + rows;
    for (int64_t row = 0; row < rows; row++) {
        fn[row] = positives - tp[row];
        tn[row] = negatives - fp[row];
        fpr[row] = fp[row] / negatives;
        tpr[row] = tp[row] / positives;
        precision[row] = tp[row] / (tp[row] + fp[row]);
    }
    for (int64_t row = 0; row < rows && tp[row] == 0 && fp[row] == 0; row++)
        precision[row] = NAN;
}

/* A sum of numbers, exact in two parts; the third, of what is below both, is rounded far below the last bit of all. */
struct total {
    double leading, middle, rest;
};

/* Numbers side by side: the order in which a compiler may not add up those of one sum. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

#define INLINE static inline __attribute__((always_inline)) /* or clones would disagree how to hand on such vectors */

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

/* Fill the other columns, as climbs.py has them. Tells whether a z is above its limit, and the integral without meaning. */
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
        leaning |= of->fp_after[at] != of->fp[at];
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
           under tp over fp, exact where 2 P N is a double.
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
