// What the ways to divide a call have in common.
#pragma once
#include <algorithm>
#include <vector>

#include "parts.h"
#include "sizes.h"

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

inline int64_t parts_of(int64_t all, int64_t part) { return (all + part - 1) / part; }
inline int64_t within(int64_t value, int64_t most) {
  return std::max<int64_t>(1, std::min(value, most));
}
inline int64_t elements_of(const VafCall& c) {
  return c.networks * c.outer * c.units * c.inner;
}
// Threads, and the sums that wait for their addition, each take at most half the memory
// of x, unless one thread needs more.
inline int64_t half_of_x(const VafCall& c) { return elements_of(c) * bytes_of(c.type) / 2; }

// The number of threads that a call has work and memory for; `bytes`: what each allocates.
inline int threads_for(const VafCall& c, int threads, int64_t bytes) {
  const int64_t most = std::min(elements_of(c) / ELEMENTS_OF_A_TASK, half_of_x(c) / bytes);
  return (int)within(threads, most);
}
// Enough tasks that no thread waits long for the last one.
inline int64_t tasks_for(const VafCall& c, int threads) {
  return threads == 1 ? 1 : within(4 * threads, elements_of(c) / ELEMENTS_OF_A_TASK);
}

// Gradients of the parameters of `count` functions from their sums, which have the shape
// (vaf_sums(k), stride).
inline void finish(const VafCall& c, int64_t first, int64_t count, const double* sums,
                   int64_t stride) {
  const int64_t k = c.k, step = step_of(c), bias_step = bias_step_of(c);
  for (int64_t j = 0; j < k; j++) {
    const double *s0 = sums + (1 + 3 * j) * stride, *s1 = s0 + stride, *s2 = s1 + stride;
    for (int64_t i = 0; i < count; i++) {
      const int64_t p = (first + i) * step + j;
      c.d_alpha[p] = (float)(c.beta[p] * s1[i]);
      c.d_alpha_bias[p] = (float)(c.beta[p] * s0[i]);
      const bool linear = c.function == VAF_LEAKY_RELU;
      c.d_beta[p] = (float)(linear ? c.alpha[p] * s1[i] + c.alpha_bias[p] * s0[i] : s2[i]);
    }
  }
  for (int64_t i = 0; i < count; i++) c.d_beta_bias[(first + i) * bias_step] = (float)sums[i];
}

// The sums of functions whose elements are several groups, in different tasks. With one
// group, a task finishes its functions itself.
struct Groups {
  const VafCall& call;
  int64_t count = 1;
  std::vector<double> sums;  // (functions, groups, sums)

  explicit Groups(const VafCall& c) : call(c) {}
  int64_t functions() const { return call.networks * call.units; }
  int64_t width() const { return vaf_sums(call.k); }

  // The most groups whose sums fit into half the memory of x.
  int64_t most() const {
    return std::max<int64_t>(1, half_of_x(call) / (functions() * width() * 8));
  }
  void allocate(int64_t groups, bool backward) {
    count = groups;
    if (backward && count > 1) sums.resize(functions() * count * width());
  }
  // Takes the sums of a group of `functions` functions, which have the shape (sums, stride).
  void take(int64_t group, int64_t first, int64_t functions, const double* added, int64_t stride) {
    if (count == 1) return finish(call, first, functions, added, stride);
    for (int64_t i = 0; i < functions; i++) {
      double* to = &sums[((first + i) * count + group) * width()];
      for (int64_t s = 0; s < width(); s++) to[s] = added[s * stride + i];
    }
  }
  // After all tasks, adds the groups of some functions: again as tasks.
  int64_t functions_of_a_task() const { return within(ELEMENTS_OF_A_TASK / (count * width()), functions()); }
  int64_t tasks() const { return sums.empty() ? 0 : parts_of(functions(), functions_of_a_task()); }
  void run(int64_t task) {
    const int64_t begin = task * functions_of_a_task();
    const int64_t end = std::min(functions(), begin + functions_of_a_task());
    for (int64_t f = begin; f < end; f++) {
      double* all = &sums[f * count * width()];
      for (int64_t g = 1; g < count; g++)
        for (int64_t s = 0; s < width(); s++) all[s] += all[g * width() + s];
      finish(call, f, 1, all, 1);
    }
  }
};

}  // namespace
