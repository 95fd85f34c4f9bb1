/* Shared by the loops of an unweighted evaluation that take the most time in NumPy: each is one pass where NumPy takes
   many.

   Every number is computed by the same operations in the same order as in the caller's NumPy code, so that it has the
   same bits: nothing may be contracted or reassociated. Loops differ only where both ways are exact, such as sums in
   any order. Allocation and checks are up to the only caller, service/curves/compiled.py. */

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

/* Rows processed at a time, which stay in the processor's first-level cache. */
enum { PIECE = 512 };

#endif
