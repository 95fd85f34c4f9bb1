/* The columns of a table's rows. */

#include "kernel.h"

#include <math.h>

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
