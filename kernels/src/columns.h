// A call in which neighbouring elements have different functions.
#pragma once
#include <vector>

#include "calls.h"

namespace {

// A function for each column of rows of `width` elements. Narrow rows are joined: then a
// column's function is that of its place in the shorter row.
struct ColumnPlan {
  const VafCall& call;
  bool backward, by_tile;
  int64_t period, joined, width, rows, rest, tiles, group, groups;
  std::vector<float> parameters;  // (networks, 3 k + 1, width)
  std::vector<double> sums;       // (networks, threads, sums, width)
  int threads;

  ColumnPlan(const VafCall& c, bool backward, int threads)
      : call(c), backward(backward), threads(threads) {
    period = c.units * c.inner;
    joined = std::max<int64_t>(1, std::min<int64_t>(VAF_COLUMNS / period, c.outer));
    width = period * joined;
    rows = c.outer / joined;
    rest = c.outer % joined * period;  // elements of a last row that is not full
    tiles = (width + VAF_COLUMNS - 1) / VAF_COLUMNS;
    // Where every column has a function of its own and there are many, a task has some
    // columns for itself, with their parameters and sums.
    by_tile = c.inner == 1 && joined == 1 && tiles >= 8 * threads;
    const int64_t all = rows + (rest ? 1 : 0);
    group = std::max<int64_t>(1, std::min<int64_t>(all, ELEMENTS_OF_A_TASK / width));
    groups = (all + group - 1) / group;
    if (by_tile) return;
    parameters.resize(c.networks * vaf_sums(c.k) * width);
    for (int64_t n = 0; n < c.networks; n++) gather(n, 0, width, &parameters[n * vaf_sums(c.k) * width]);
    if (backward) sums.resize(c.networks * threads * vaf_sums(c.k) * width);
  }
  int64_t tasks() const { return call.networks * (by_tile ? tiles : groups); }

  // Copies the parameters of `count` columns to an array of shape (3 k + 1, count).
  void gather(int64_t network, int64_t first, int64_t count, float* to) const {
    const float* from[3] = {call.alpha, call.alpha_bias, call.beta};
    for (int64_t c = 0; c < count; c++) {
      const int64_t unit = network * call.units + (first + c) % period / call.inner;
      for (int p = 0; p < 3; p++)
        for (int j = 0; j < call.k; j++)
          to[(p * call.k + j) * count + c] = from[p][unit * call.k + j];
      to[3 * call.k * count + c] = call.beta_bias[unit];
    }
  }
  Function function_of(const float* own, int64_t stride) const {
    const int64_t block = call.k * stride;
    return {call.function, call.k, call.slope, own, own + block, own + 2 * block,
            own + 3 * block, stride, nullptr};
  }

  void run(int64_t task, int thread) {
    if (by_tile) return run_tile(task / tiles, task % tiles);
    const int64_t n = task / groups, begin = task % groups * group, sizes = vaf_sums(call.k);
    const float* own = &parameters[n * sizes * width];
    double* to = backward ? &sums[(n * threads + thread) * sizes * width] : nullptr;
    for (int64_t tile = 0; tile < tiles; tile++) {
      const int64_t column = tile * VAF_COLUMNS;
      Function f = function_of(own, width);
      f.alpha += column, f.alpha_bias += column, f.beta += column, f.beta_bias += column;
      run_rows(f, n, column, begin, begin + group, backward ? to + column : nullptr, width);
    }
  }
  void run_tile(int64_t n, int64_t tile) {
    const int sizes = vaf_sums(call.k);
    const int64_t column = tile * VAF_COLUMNS;
    const int64_t count = std::min<int64_t>(VAF_COLUMNS, width - column);
    std::vector<float> own(sizes * count);
    std::vector<double> to(backward ? sizes * count : 0);
    gather(n, column, count, own.data());
    run_rows(function_of(own.data(), count), n, column, 0, rows, to.data(), count);
    if (backward)
      for (int64_t c = 0; c < count; c++)
        finish(call, n * call.units + column + c, &to[c], count);
  }
  void run_rows(const Function& f, int64_t n, int64_t column, int64_t begin, int64_t end,
                double* to, int64_t apart) {
    int64_t r = begin;
    for (; r < std::min(end, rows); r += VAF_ROWS) {
      const int count = (int)std::min<int64_t>(VAF_ROWS, std::min(end, rows) - r);
      block(f, n, r, count, column, std::min<int64_t>(VAF_COLUMNS, width - column), to, apart);
    }
    if (rest > column && end > rows)
      block(f, n, rows, 1, column, std::min<int64_t>(VAF_COLUMNS, rest - column), to, apart);
  }
  void block(const Function& f, int64_t n, int64_t row, int count, int64_t column,
             int64_t columns, double* to, int64_t apart) {
    const int64_t from = n * call.outer * period + row * width + column;
    if (call.type == VAF_FLOAT32) {
      pass(f, (const float*)call.x + from, (const float*)call.d + from, (float*)call.out + from,
           (int)columns, count, to, apart);
      return;
    }
    float spaces[3][VAF_COLUMNS];
    for (int r = 0; r < count; r++) {
      const int64_t at = from + r * width;
      const float* x = read(call.x, call.type, at, (int)columns, spaces[0]);
      const float* d = backward ? read(call.d, call.type, at, (int)columns, spaces[1]) : x;
      pass(f, x, d, spaces[2], (int)columns, 1, to, apart);
      write(call.out, call.type, at, (int)columns, spaces[2]);
    }
  }
  void pass(const Function& f, const float* x, const float* d, float* out, int columns,
            int count, double* to, int64_t apart) {
    if (backward)
      vaf_parts().column_backward(f, x, d, out, columns, count, width, to, apart);
    else
      vaf_parts().column_forward(f, x, out, columns, count, width);
  }
  void gradients() {
    if (by_tile) return;
    const int sizes = vaf_sums(call.k);
    std::vector<double> own(sizes);
    for (int64_t n = 0; n < call.networks; n++)
      for (int64_t u = 0; u < call.units; u++) {
        for (int s = 0; s < sizes; s++) own[s] = sum_of(n, u, s);
        finish(call, n * call.units + u, own.data(), 1);
      }
  }
  double sum_of(int64_t n, int64_t unit, int s) const {
    double sum = 0;
    for (int t = 0; t < threads; t++) {
      const double* row = &sums[((n * threads + t) * vaf_sums(call.k) + s) * width];
      for (int64_t j = 0; j < joined; j++)
        for (int64_t i = 0; i < call.inner; i++) sum += row[j * period + unit * call.inner + i];
    }
    return sum;
  }
};

}  // namespace
