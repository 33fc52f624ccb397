// What the ways to divide a call have in common.
#pragma once
#include <algorithm>

#include "parts.h"
#include "vaf_kernels.h"

namespace {

// Returns n floats from element `at` on: the array itself, or a copy in `space`.
inline const float* read(const void* data, int type, int64_t at, int n, float* space) {
  if (type == VAF_FLOAT32) return (const float*)data + at;
  vaf_parts().widen(type, (const uint16_t*)data + at, space, n);
  return space;
}
inline void write(void* data, int type, int64_t at, int n, const float* space) {
  if (type != VAF_FLOAT32) vaf_parts().narrow(type, space, (uint16_t*)data + at, n);
}

// Rows: stretches of at least this many elements share one function. Below that, each
// place of a row is a column with a function of its own.
const int64_t SHORTEST_ROW = 32;
const int64_t ELEMENTS_OF_A_TASK = 1 << 15;

// Gradients of the parameters of function `place` from its sums, which lie `apart`.
inline void finish(const VafCall& c, int64_t place, const double* sums, int64_t apart) {
  for (int j = 0; j < c.k; j++) {
    const int64_t at = place * c.k + j;
    const double s0 = sums[(1 + 3 * j) * apart], s1 = sums[(2 + 3 * j) * apart];
    double s2 = sums[(3 + 3 * j) * apart];
    if (c.function == VAF_LEAKY_RELU) s2 = c.alpha[at] * s1 + c.alpha_bias[at] * s0;
    c.d_alpha[at] = (float)(c.beta[at] * s1);
    c.d_alpha_bias[at] = (float)(c.beta[at] * s0);
    c.d_beta[at] = (float)s2;
  }
  c.d_beta_bias[place] = (float)sums[0];
}

inline Function function_at(const VafCall& c, int64_t place) {
  return {c.function, c.k, c.slope, c.alpha + place * c.k, c.alpha_bias + place * c.k,
          c.beta + place * c.k, c.beta_bias + place, 1, nullptr};
}

}  // namespace
