/* Groups of equal scores, found through keys that the caller sorts. */

#include "kernel.h"

#include <math.h>
#include <string.h>

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

/* Make keys: doubles that sort like the scores times `scale`, which are all below 1.5, with the label as their last bit.

   Returns whether every score survives scaling and back. */
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

/* The scaled score of a key; -0.0 becomes 0.0. */
static inline double score_of(double key, uint64_t kept, uint64_t turned)
{
    const uint64_t bits = bits_of(key) ^ turned;
    return double_of((bits & ~SIGN) >> 1 | (bits & kept)) + 0.0;
}

/* Write a first row that calls nothing positive, then one for each distinct score of sorted keys; return the number of rows.

   `columns` has thresholds, tp and fp one after the other, each with room for one row more than there are keys. */
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
                /* Overwritten by the next row of the same score: a write costs less than a branch. */
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
