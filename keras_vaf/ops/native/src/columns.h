// A call in which neighbouring elements have different functions.
#pragma once
#include <vector>

#include "calls.h"

namespace {

// Sums of columns: floats for a few rows, added to doubles.
struct ColumnSums {
  int64_t size;
  std::vector<float> few;
  std::vector<double> all;

  explicit ColumnSums(int64_t size) : size(size), few(size), all(size) {}
  void add_few() {
    for (int64_t i = 0; i < size; i++) all[i] += few[i];
    std::fill(few.begin(), few.end(), 0.0f);
  }
};

inline int64_t padded(int64_t columns) { return (columns + 15) / 16 * 16; }

// Passes over rows of `width` elements, each column of which has a function.
struct Columns {
  const VafCall& call;
  const bool backward;
  int64_t width = 0;

  Columns(const VafCall& c, bool backward) : call(c), backward(backward) {}

  // Parameters of shape (3 k + 1, stride).
  Function function_of(const float* own, int64_t stride) const {
    const int64_t block = call.k * stride;
    return {call.function, call.k, call.slope, own, own + block, own + 2 * block,
            own + 3 * block, stride, nullptr};
  }
  // Computes `columns` columns of `count` rows; the first element is `from`. Adds to the
  // sums `few`, whose columns are as far apart as those of the parameters.
  void block(const Function& f, int64_t from, int64_t columns, int64_t count, float* few) {
    if (call.type == VAF_FLOAT32) {
      pass(f, (const float*)call.x + from, (const float*)call.d + from, (float*)call.out + from,
           columns, count, width, few, 0);
      return;
    }
    for (int64_t r = 0; r < count; r += HALF_ROWS)
      for (int64_t c = 0; c < columns; c += VAF_COLUMNS)
        half_block(f, from + r * width + c, c, std::min<int64_t>(VAF_COLUMNS, columns - c),
                   std::min<int64_t>(HALF_ROWS, count - r), few);
  }

 private:
  enum { HALF_ROWS = 4 };  // rows of two-byte numbers that are widened at a time

  void half_block(const Function& f, int64_t from, int64_t column, int64_t columns,
                  int64_t count, float* few) {
    float x[HALF_ROWS * VAF_COLUMNS], d[HALF_ROWS * VAF_COLUMNS], out[HALF_ROWS * VAF_COLUMNS];
    const int n = (int)columns;
    for (int64_t r = 0; r < count; r++) {
      read(call.x, call.type, from + r * width, n, x + r * VAF_COLUMNS);
      if (backward) read(call.d, call.type, from + r * width, n, d + r * VAF_COLUMNS);
    }
    pass(f, x, d, out, columns, count, VAF_COLUMNS, few, column);
    for (int64_t r = 0; r < count; r++)
      write(call.out, call.type, from + r * width, n, out + r * VAF_COLUMNS);
  }
  // `column`: the first column, counted from that of the parameters and sums.
  void pass(Function f, const float* x, const float* d, float* out, int64_t columns,
            int64_t count, int64_t apart, float* few, int64_t column) {
    f.alpha += column, f.alpha_bias += column, f.beta += column, f.beta_bias += column;
    if (backward)
      vaf_parts().column_backward(f, x, d, out, (int)columns, (int)count, apart, few + column,
                                  f.stride);
    else
      vaf_parts().column_forward(f, x, out, (int)columns, (int)count, apart);
  }
};

// Some rows are a task, all columns of them. Narrow rows are joined: then a column's
// function is that of its place in the shorter row.
struct ColumnPlan : Columns {
  int64_t period, joined, stride, rows, rest, group, groups;
  std::vector<float> parameters;  // (networks, 3 k + 1, stride)
  std::vector<ColumnSums> sums;   // (networks, threads), each of shape (sums, stride)
  int threads;

  ColumnPlan(const VafCall& c, bool backward, int threads)
      : Columns(c, backward), threads(threads) {
    period = c.units * c.inner;
    joined = std::max<int64_t>(1, std::min<int64_t>(NARROW / period, c.outer));
    width = period * joined;
    stride = padded(width);
    rows = c.outer / joined;
    rest = c.outer % joined * period;  // elements of a last row that is not full
    const int64_t all = rows + (rest ? 1 : 0), share = (all + 4 * threads - 1) / (4 * threads);
    group = std::max(ELEMENTS_OF_A_TASK / width, std::min<int64_t>(share, 16));
    group = std::max<int64_t>(1, std::min<int64_t>(group, VAF_ROWS));
    groups = (all + group - 1) / group;
    const int64_t size = vaf_sums(c.k) * stride;
    parameters.resize(c.networks * size);
    for (int64_t n = 0; n < c.networks; n++) gather(n, &parameters[n * size]);
    if (backward) sums.assign(c.networks * threads, ColumnSums(size));
  }
  int64_t tasks() const { return call.networks * groups; }

  void run(int64_t task, int thread) {
    const int64_t n = task / groups, begin = task % groups * group;
    const int64_t count = std::min(group, rows - begin), from = n * call.outer * period;
    const Function f = function_of(&parameters[n * vaf_sums(call.k) * stride], stride);
    ColumnSums* own = backward ? &sums[n * threads + thread] : nullptr;
    float* few = backward ? own->few.data() : nullptr;
    if (count > 0) block(f, from + begin * width, width, count, few);
    if (rest && begin + group > rows) block(f, from + rows * width, rest, 1, few);
    if (backward) own->add_few();
  }
  void gradients() {
    const int sizes = vaf_sums(call.k);
    std::vector<double> own(sizes);
    for (int64_t n = 0; n < call.networks; n++)
      for (int64_t u = 0; u < call.units; u++) {
        for (int s = 0; s < sizes; s++) own[s] = sum_of(n, u, s);
        finish(call, n * call.units + u, 1, own.data(), 1);
      }
  }

 private:
  static const int64_t NARROW = 128;  // rows are joined up to this width

  // Copies the parameters of a network to an array of shape (3 k + 1, stride).
  void gather(int64_t network, float* to) const {
    const float* from[3] = {call.alpha, call.alpha_bias, call.beta};
    for (int64_t c = 0; c < width; c++) {
      const int64_t unit = network * call.units + c % period / call.inner;
      for (int p = 0; p < 3; p++)
        for (int j = 0; j < call.k; j++)
          to[(p * call.k + j) * stride + c] = from[p][unit * call.k + j];
      to[3 * call.k * stride + c] = call.beta_bias[unit];
    }
  }
  double sum_of(int64_t n, int64_t unit, int s) const {
    double sum = 0;
    for (int t = 0; t < threads; t++) {
      const double* row = &sums[n * threads + t].all[s * stride];
      for (int64_t j = 0; j < joined; j++)
        for (int64_t i = 0; i < call.inner; i++) sum += row[j * period + unit * call.inner + i];
    }
    return sum;
  }
};

}  // namespace
