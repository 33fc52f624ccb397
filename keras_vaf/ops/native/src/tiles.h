// A call with many functions, each of which belongs to one column.
#pragma once
#include <vector>

#include "columns.h"

namespace {

// Some columns are a task, all rows of them, with their parameters and sums.
struct TilePlan : Columns {
  int64_t tiles;
  struct Space {
    std::vector<float> parameters;
    ColumnSums sums{0};
  };
  std::vector<Space> spaces;  // one for each thread

  static bool takes(const VafCall& c, int threads) {
    return c.inner == 1 && c.units >= 4 * threads * VAF_COLUMNS;
  }
  TilePlan(const VafCall& c, bool backward, int threads)
      : Columns(c, backward), spaces(threads) {
    width = c.units;
    tiles = (width + VAF_COLUMNS - 1) / VAF_COLUMNS;
    const int64_t size = vaf_sums(c.k) * VAF_COLUMNS;
    for (Space& space : spaces) {
      space.parameters.resize(size);
      if (backward) space.sums = ColumnSums(size);
    }
  }
  int64_t tasks() const { return call.networks * tiles; }

  void run(int64_t task, int thread) {
    Space& space = spaces[thread];
    const int64_t n = task / tiles, column = task % tiles * VAF_COLUMNS;
    const int64_t count = std::min<int64_t>(VAF_COLUMNS, width - column);
    const int64_t unit = n * width + column, from = n * call.outer * width + column;
    gather(unit, count, space.parameters.data());
    const Function f = function_of(space.parameters.data(), VAF_COLUMNS);
    float* few = backward ? space.sums.few.data() : nullptr;
    for (int64_t r = 0; r < call.outer; r += VAF_ROWS) {
      block(f, from + r * width, count, std::min<int64_t>(VAF_ROWS, call.outer - r), few);
      if (backward && call.outer > VAF_ROWS) space.sums.add_few();
    }
    if (backward) finish_tile(unit, count, space.sums);
  }
  void gradients() {}

 private:
  // Copies the parameters of `count` functions to an array of shape (3 k + 1, columns).
  void gather(int64_t unit, int64_t count, float* to) const {
    const float* from[3] = {call.alpha, call.alpha_bias, call.beta};
    const int64_t k = call.k;
    for (const float* parameter : from)
      for (int64_t j = 0; j < k; j++, to += VAF_COLUMNS)
        for (int64_t c = 0; c < count; c++) to[c] = parameter[(unit + c) * k + j];
    std::copy_n(call.beta_bias + unit, count, to);
  }
  void finish_tile(int64_t unit, int64_t count, ColumnSums& sums) {
    if (call.outer <= VAF_ROWS) {
      finish(call, unit, count, sums.few.data(), VAF_COLUMNS);
      std::fill(sums.few.begin(), sums.few.end(), 0.0f);
    } else {
      finish(call, unit, count, sums.all.data(), VAF_COLUMNS);
      std::fill(sums.all.begin(), sums.all.end(), 0.0);
    }
  }
};

}  // namespace
