// Whether the arrays of a call have the sizes that the call demands.
#pragma once
#include <initializer_list>

#include "vaf_kernels.h"

namespace {

// The product of sizes; -1 if one of them is negative or the product is too large.
inline int64_t product(std::initializer_list<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(all, size, &all)) return -1;
  return all;
}

inline int64_t bytes_of(int type) { return type == VAF_FLOAT32 ? 4 : 2; }

inline bool fits(const VafCall& c, VafArray array, const void* data, int64_t bytes) {
  return bytes >= 0 && c.bytes[array] == bytes && (data || !bytes);
}

// Numbers from the parameters of a function to those of the next.
inline int64_t step_of(const VafCall& c) { return c.packed ? 3 * c.k + 1 : c.k; }
inline int64_t bias_step_of(const VafCall& c) { return c.packed ? 3 * c.k + 1 : 1; }

// Enters all parameters of a packed call.
inline void unpack(VafCall& c, bool backward) {
  c.alpha_bias = c.alpha + c.k, c.beta = c.alpha_bias + c.k, c.beta_bias = c.beta + c.k;
  if (!backward) return;
  c.d_alpha_bias = c.d_alpha + c.k, c.d_beta = c.d_alpha_bias + c.k;
  c.d_beta_bias = c.d_beta + c.k;
}

inline bool sizes_fit(const VafCall& c, bool backward) {
  const int64_t x = product({c.networks, c.outer, c.units, c.inner, bytes_of(c.type)});
  const int64_t units = product({c.networks, c.units, step_of(c), 4});
  const int64_t biases = product({c.networks, c.units, 4});
  const bool forward = fits(c, VAF_X, c.x, x) && fits(c, VAF_OUT, c.out, x) &&
                       fits(c, VAF_ALPHA, c.alpha, units) &&
                       (c.packed || (fits(c, VAF_ALPHA_BIAS, c.alpha_bias, units) &&
                                     fits(c, VAF_BETA, c.beta, units) &&
                                     fits(c, VAF_BETA_BIAS, c.beta_bias, biases)));
  if (!forward || !backward) return forward;
  return fits(c, VAF_D, c.d, x) && fits(c, VAF_D_ALPHA, c.d_alpha, units) &&
         (c.packed || (fits(c, VAF_D_ALPHA_BIAS, c.d_alpha_bias, units) &&
                       fits(c, VAF_D_BETA, c.d_beta, units) &&
                       fits(c, VAF_D_BETA_BIAS, c.d_beta_bias, biases)));
}

}  // namespace
