// A call in which neighbouring elements have different functions.
#pragma once
#include <memory>

#include "calls.h"

namespace {

// What a task works with: columns, each with its parameters and sums.
struct ColumnSpace {
  int64_t stride = 0, size = 0;          // columns and up to 15 unused ones; numbers
  std::unique_ptr<float[]> parameters;   // (3 k + 1, stride)
  std::unique_ptr<float[]> float_sums;   // sums of some rows, of shape (sums, stride)
  std::unique_ptr<double[]> all;         // sums of all rows

  // Writes nothing, so that the system gives each thread memory when it first needs it.
  void allocate(int k, int64_t columns, bool backward) {
    stride = padded(columns), size = vaf_sums(k) * stride;
    parameters.reset(new float[size]);
    if (backward) float_sums.reset(new float[size]), all.reset(new double[size]);
  }
  void clear() {
    std::fill_n(float_sums.get(), size, 0.0f);
    std::fill_n(all.get(), size, 0.0);
  }
  void add_few() {
    for (int64_t i = 0; i < size; i++) all[i] += float_sums[i];
    std::fill_n(float_sums.get(), size, 0.0f);
  }
  static int64_t padded(int64_t columns) { return parts_of(columns, 16) * 16; }
  static int64_t bytes(int k, int64_t columns) { return vaf_sums(k) * padded(columns) * 16; }
};

// A task is some rows of a tile: of columns that are neighbours. Narrow rows are joined_rows:
// then a column's function is that of its place in the shorter row.
struct ColumnPlan {
  const VafCall& call;
  const bool backward;
  int threads;
  int64_t period, joined_rows, width;  // columns of a row: as given, and after joining
  int64_t rows, rest;             // rows, and elements of a last one that is not full
  int64_t tile_units, tiles;        // units of a tile, whose columns are not divided
  int64_t group;                  // rows of a task
  Groups groups;
  std::vector<ColumnSpace> spaces;  // one for each thread

  ColumnPlan(const VafCall& c, bool backward, int most_threads)
      : call(c), backward(backward), groups(c) {
    // Parameters and sums of a tile stay in the cache.
    const int64_t most = std::max(FEWEST_COLUMNS, std::min<int64_t>(VAF_COLUMNS, CACHE / vaf_sums(c.k)));
    period = c.units * c.inner;
    joined_rows = within(std::min(NARROW, most) / period, c.outer);
    width = period * joined_rows;
    rows = c.outer / joined_rows;
    rest = c.outer % joined_rows * period;
    tiles = joined_rows > 1 ? 1 : parts_of(c.units, std::max<int64_t>(1, most / c.inner));
    tile_units = parts_of(c.units, tiles);
    tiles = parts_of(c.units, tile_units);
    const int64_t columns = tile_units * c.inner * joined_rows, all = rows + (rest ? 1 : 0);
    threads = threads_for(c, most_threads, ColumnSpace::bytes(c.k, columns));
    const int64_t wanted = parts_of(tasks_for(c, threads), c.networks * tiles);
    group = parts_of(all, within(wanted, std::min(groups.most(), all)));
    groups.allocate(parts_of(all, group), backward);
    spaces.resize(threads);
    for (ColumnSpace& space : spaces) space.allocate(c.k, columns, backward);
  }
  int64_t tasks() const { return call.networks * tiles * groups.count; }

  void run(int64_t task, int thread) {
    ColumnSpace& space = spaces[thread];
    const int64_t tile = task / groups.count % tiles, n = task / groups.count / tiles;
    const int64_t first = tile * tile_units, units = std::min(tile_units, call.units - first);
    const int64_t unit = n * call.units + first, columns = units * call.inner * joined_rows;
    gather(unit, units, space);
    if (backward) space.clear();
    const Function f = function_of(space, columns);
    const int64_t from = n * call.outer * period + first * call.inner;
    const int64_t begin = task % groups.count * group, end = std::min(rows, begin + group);
    for (int64_t r = begin; r < end; r += VAF_ROWS) {
      block(f, from + r * width, columns, std::min<int64_t>(VAF_ROWS, end - r),
            space.float_sums.get());
      if (backward) space.add_few();
    }
    if (rest && begin + group > rows) {
      block(f, from + rows * width, rest, 1, space.float_sums.get());
      if (backward) space.add_few();
    }
    if (backward) give(task % groups.count, unit, units, space);
  }

 private:
  enum { HALF_ROWS = 4 };  // rows of two-byte numbers that are widened at a time
  static constexpr int64_t NARROW = 128;          // rows are joined_rows up to this width
  static constexpr int64_t FEWEST_COLUMNS = 64;   // of a tile, if there are as many
  static constexpr int64_t CACHE = 8192;          // sums of a tile, if it has more columns

  Function function_of(const ColumnSpace& space, int64_t columns) const {
    const float* parameters = space.parameters.get();
    const int64_t block = call.k * space.stride;
    Function f = {call.function, call.k, call.slope, parameters, parameters + block,
                  parameters + 2 * block, parameters + 3 * block, space.stride, nullptr, true};
    f.finite = finite(f, columns);
    return f;
  }
  // Copies the parameters of `units` functions to an array of shape (3 k + 1, stride).
  void gather(int64_t unit, int64_t units, ColumnSpace& space) const {
    const int64_t columns = units * call.inner, step = step_of(call);
    float* to = space.parameters.get();
    for (const float* from : {call.alpha, call.alpha_bias, call.beta})
      for (int64_t j = 0; j < call.k; j++, to += space.stride)
        spread(from + unit * step + j, step, units, to);
    spread(call.beta_bias + unit * bias_step_of(call), bias_step_of(call), units, to);
    to = space.parameters.get();
    for (int64_t row = 0; joined_rows > 1 && row < vaf_sums(call.k); row++, to += space.stride)
      for (int64_t j = 1; j < joined_rows; j++) std::copy_n(to, columns, to + j * columns);
  }
  // Copies a number of each function, `step` numbers apart, to all columns of the function.
  void spread(const float* from, int64_t step, int64_t units, float* to) const {
    for (int64_t u = 0; u < units; u++, to += call.inner)
      std::fill_n(to, call.inner, from[u * step]);
  }
  // Adds the sums of a function's columns, and gives them away.
  void give(int64_t part, int64_t unit, int64_t units, ColumnSpace& space) {
    const int64_t inner = call.inner, columns = units * inner;
    if (inner * joined_rows > 1)
      for (double* row = space.all.get(); row < space.all.get() + space.size; row += space.stride)
        for (int64_t u = 0; u < units; u++) {
          double sum = 0;
          for (int64_t j = 0; j < joined_rows; j++)
            for (int64_t i = 0; i < inner; i++) sum += row[j * columns + u * inner + i];
          row[u] = sum;  // a place that no later function reads
        }
    groups.take(part, unit, units, space.all.get(), space.stride);
  }
  // Computes `columns` columns of `count` rows; the first element is `from`. Adds to the
  // sums `float_sums`, whose columns are as far apart as those of the parameters.
  void block(const Function& f, int64_t from, int64_t columns, int64_t count, float* float_sums) {
    if (call.type == VAF_FLOAT32)
      return pass(f, (const float*)call.x + from, (const float*)call.d + from,
                  (float*)call.out + from, columns, count, width, float_sums);
    for (int64_t r = 0; r < count; r += HALF_ROWS)
      half_block(f, from + r * width, columns, std::min<int64_t>(HALF_ROWS, count - r), float_sums);
  }
  void half_block(const Function& f, int64_t from, int64_t columns, int64_t count,
                  float* float_sums) {
    float x[HALF_ROWS * VAF_COLUMNS], d[HALF_ROWS * VAF_COLUMNS], out[HALF_ROWS * VAF_COLUMNS];
    const int n = (int)columns;
    for (int64_t r = 0; r < count; r++) {
      read(call.x, call.type, from + r * width, n, x + r * VAF_COLUMNS);
      if (backward) read(call.d, call.type, from + r * width, n, d + r * VAF_COLUMNS);
    }
    pass(f, x, d, out, columns, count, VAF_COLUMNS, float_sums);
    for (int64_t r = 0; r < count; r++)
      write(call.out, call.type, from + r * width, n, out + r * VAF_COLUMNS);
  }
  void pass(const Function& f, const float* x, const float* d, float* out, int64_t columns,
            int64_t count, int64_t row_stride, float* float_sums) {
    if (backward)
      vaf_parts().column_backward(f, x, d, out, (int)columns, (int)count, row_stride,
                                  float_sums, f.stride);
    else
      vaf_parts().column_forward(f, x, out, (int)columns, (int)count, row_stride);
  }
};

}  // namespace
