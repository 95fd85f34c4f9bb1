/* What is shared by the loops of an unweighted evaluation that take the most time in NumPy: one pass each, where NumPy
   takes many.

   Every number is made by the operations that the NumPy of the caller does, in their order, so that it has the same
   bits: nothing may be contracted or reassociated. Another way is taken only where both are exact, as sums are whose
   order makes no difference. Nothing is allocated and nothing is checked here: service/curves/compiled.py, the only
   caller, sees to that. */

#ifndef ROCPR_KERNEL_H
#define ROCPR_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The widest vectors that the processor has; which ones makes no difference to a number. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/* Columns are looked at so many rows at a time, which stay in the processor's nearest cache. */
enum { PIECE = 512 };

#endif
