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

// Gradients of the parameters of `count` functions from their sums, which have the shape
// (vaf_sums(k), apart).
template <class Number>
void finish(const VafCall& c, int64_t first, int64_t count, const Number* sums, int64_t apart) {
  const int64_t k = c.k, at = first * k;
  for (int64_t j = 0; j < k; j++) {
    const Number *s0 = sums + (1 + 3 * j) * apart, *s1 = s0 + apart, *s2 = s1 + apart;
    for (int64_t i = 0; i < count; i++) {
      const int64_t p = at + i * k + j;
      c.d_alpha[p] = (float)(c.beta[p] * s1[i]);
      c.d_alpha_bias[p] = (float)(c.beta[p] * s0[i]);
      const bool linear = c.function == VAF_LEAKY_RELU;
      c.d_beta[p] = (float)(linear ? c.alpha[p] * s1[i] + c.alpha_bias[p] * s0[i] : s2[i]);
    }
  }
  for (int64_t i = 0; i < count; i++) c.d_beta_bias[first + i] = (float)sums[i];
}

inline Function function_at(const VafCall& c, int64_t place) {
  return {c.function, c.k, c.slope, c.alpha + place * c.k, c.alpha_bias + place * c.k,
          c.beta + place * c.k, c.beta_bias + place, 1, nullptr};
}

}  // namespace
