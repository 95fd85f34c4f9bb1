/* Shared by the loops that take the most time in NumPy, those of an unweighted evaluation: each is one pass where NumPy
   needs many.

   Every number has the same bits as in the caller's NumPy code, because the same operations compute it in the same order:
   the compiler may contract or reorder nothing. Only sums are added in another order; they are exact, or so accurate that
   they hardly ever round to another double (compiled.py). The only caller, service/curves/compiled.py, allocates memory
   and checks arguments. */

#ifndef ROCPR_KERNEL_H
#define ROCPR_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The widest vectors that the processor has; their width does not change any result. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/* How many rows are processed at a time: they stay in the processor's first-level cache. */
enum { PIECE = 512 };

#endif
