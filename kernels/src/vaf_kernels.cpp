// Divides arrays into blocks and threads, and turns sums into gradients.
#include "vaf_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "parts.h"

namespace {

int processor_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  if (__builtin_cpu_supports("x86-64-v3")) return 3;
  return 2;
#else
  return 0;
#endif
}
int level_in_use = -1;
int level() { return level_in_use < 0 ? level_in_use = processor_level() : level_in_use; }
const VafParts& parts() {
#if defined(__x86_64__)
  if (level() == 4) return vaf_parts_v4;
  if (level() == 3) return vaf_parts_v3;
#endif
  return vaf_parts_base;
}

// --- Numbers of two bytes -------------------------------------------------------------

inline float from_bfloat16(uint16_t h) {
  uint32_t bits = (uint32_t)h << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint16_t to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);  // NaN
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Returns n floats from element `at` on: the array itself, or a copy in `space`.
const float* read(const void* data, int type, int64_t at, int n, float* space) {
  if (type == VAF_FLOAT32) return (const float*)data + at;
  if (type == VAF_BFLOAT16) {
    const uint16_t* p = (const uint16_t*)data + at;
    for (int i = 0; i < n; i++) space[i] = from_bfloat16(p[i]);
  } else {
    const _Float16* p = (const _Float16*)data + at;
    for (int i = 0; i < n; i++) space[i] = (float)p[i];
  }
  return space;
}
void write(void* data, int type, int64_t at, int n, const float* space) {
  if (type == VAF_BFLOAT16) {
    uint16_t* p = (uint16_t*)data + at;
    for (int i = 0; i < n; i++) p[i] = to_bfloat16(space[i]);
  } else if (type == VAF_FLOAT16) {
    _Float16* p = (_Float16*)data + at;
    for (int i = 0; i < n; i++) p[i] = (_Float16)space[i];
  }
}

// --- Lines ----------------------------------------------------------------------------

// The largest float t with: alpha x + alpha_bias > 0 exactly where x > t (alpha > 0), or
// where not x > t (alpha < 0). The quotient of two floats in double decides that exactly.
float knot_of(float alpha, float alpha_bias) {
  if (alpha == 0) return INFINITY;
  const double exact = -(double)alpha_bias / alpha;
  float t = (float)exact;
  if (alpha > 0 ? t > exact : t >= exact) t = std::nextafter(t, -INFINITY);
  return t;
}

Lines lines_of(const Function& f) {
  Lines lines;
  float knots[16];
  for (int j = 0; j < f.k; j++) {
    lines.order[j] = j;
    knots[j] = knot_of(f.alpha[j], f.alpha_bias[j]);
  }
  std::sort(lines.order, lines.order + f.k, [&](int p, int q) { return knots[p] < knots[q]; });
  for (int s = 0; s < 16; s++) {
    lines.knot[s] = s < f.k ? knots[lines.order[s]] : INFINITY;
    double slope = 0, offset = *f.beta_bias;
    for (int i = 0; i < f.k; i++) {
      const int j = lines.order[i];
      const double a = f.alpha[j], c = f.alpha_bias[j];
      const bool on = a > 0 ? i < s : a < 0 ? i >= s : c > 0;
      const double weight = (on ? 1.0 : (double)f.leak) * f.beta[j];
      slope += a * weight;
      offset += c * weight;
    }
    lines.slope[s] = (float)slope;
    lines.offset[s] = (float)offset;
  }
  return lines;
}

// --- How a call is divided ------------------------------------------------------------

// Rows: stretches of at least this many elements share one function. Below that, each
// place of a row is a column with a function of its own.
const int64_t SHORTEST_ROW = 32;
const int64_t ELEMENTS_OF_A_TASK = 1 << 15;

// Gradients of the parameters of function `place` from its sums, which lie `apart`.
void finish(const VafCall& c, int64_t place, const double* sums, int64_t apart) {
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

Function function_at(const VafCall& c, int64_t place) {
  return {c.function, c.k, c.slope, c.alpha + place * c.k, c.alpha_bias + place * c.k,
          c.beta + place * c.k, c.beta_bias + place, 1, nullptr};
}

// One function for each stretch of `inner` elements.
struct RowPlan {
  const VafCall& call;
  bool backward;
  int threads;
  int64_t functions, length, pieces;  // pieces of a stretch that are tasks of their own
  std::vector<Lines> lines;
  std::vector<double> sums;  // (threads, functions, sums)

  RowPlan(const VafCall& c, bool backward, int threads)
      : call(c), backward(backward), threads(threads) {
    functions = c.networks * c.units;
    length = c.inner;
    if (c.units == 1) length *= c.outer;
    pieces = std::max<int64_t>(1, (length + ELEMENTS_OF_A_TASK - 1) / ELEMENTS_OF_A_TASK);
    const bool use = parts().takes_lines && c.function == VAF_LEAKY_RELU && c.k <= VAF_LINES;
    if (use)
      for (int64_t i = 0; i < functions; i++) lines.push_back(lines_of(function_at(c, i)));
    if (backward) sums.resize(threads * functions * vaf_sums(c.k));
  }
  int64_t stretches() const { return call.networks * call.outer * call.units * call.inner / std::max<int64_t>(length, 1); }
  int64_t tasks() const { return stretches() * pieces; }

  void run(int64_t task, int thread) {
    const int64_t stretch = task / pieces, piece = task % pieces;
    const int64_t per_network = call.units == 1 ? 1 : call.outer * call.units;
    const int64_t place = stretch / per_network * call.units + stretch % call.units;
    Function f = function_at(call, place);
    if (!lines.empty()) f.lines = &lines[place];
    double* own = backward ? &sums[(thread * functions + place) * vaf_sums(call.k)] : nullptr;
    const int64_t size = (length + pieces - 1) / pieces;
    const int64_t begin = piece * size, end = std::min(length, begin + size);
    float spaces[3][VAF_BLOCK];
    for (int64_t at = begin; at < end; at += VAF_BLOCK) {
      const int n = (int)std::min<int64_t>(VAF_BLOCK, end - at);
      const int64_t from = stretch * length + at;
      const float* x = read(call.x, call.type, from, n, spaces[0]);
      float* out = call.type == VAF_FLOAT32 ? (float*)call.out + from : spaces[2];
      if (backward)
        parts().row_backward(f, x, read(call.d, call.type, from, n, spaces[1]), out, n, own);
      else
        parts().row_forward(f, x, out, n);
      write(call.out, call.type, from, n, out);
    }
  }
  void gradients() {
    const int width = vaf_sums(call.k);
    for (int64_t i = 0; i < functions; i++) {
      double* first = &sums[i * width];
      for (int t = 1; t < threads; t++)
        for (int s = 0; s < width; s++) first[s] += sums[(t * functions + i) * width + s];
      finish(call, i, first, 1);
    }
  }
};

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
      parts().column_backward(f, x, d, out, columns, count, width, to, apart);
    else
      parts().column_forward(f, x, out, columns, count, width);
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

template <class Plan>
void execute(const VafCall& call, bool backward, const VafRunner& runner) {
  const int64_t elements = call.networks * call.outer * call.units * call.inner;
  const int threads = elements < 2 * ELEMENTS_OF_A_TASK ? 1 : std::max(1, runner.threads);
  Plan plan(call, backward, threads);
  auto body = [](void* p, int64_t task, int thread) { ((Plan*)p)->run(task, thread); };
  if (threads == 1)
    for (int64_t task = 0; task < plan.tasks(); task++) plan.run(task, 0);
  else
    runner.run(runner.pool, threads, plan.tasks(), body, &plan);
  if (backward) plan.gradients();
}

int start(const VafCall& call, bool backward, const VafRunner& runner) {
  if (call.function < VAF_LEAKY_RELU || call.function > VAF_SIN) return 1;
  if (call.type < VAF_FLOAT32 || call.type > VAF_FLOAT16) return 1;
  if (call.k < 1 || call.k > VAF_MOST_UNITS) return 1;
  if (call.units == 1 || call.inner >= SHORTEST_ROW)
    execute<RowPlan>(call, backward, runner);
  else
    execute<ColumnPlan>(call, backward, runner);
  return 0;
}

}  // namespace

int vaf_interface(void) { return 1; }
int vaf_level(void) { return level(); }
int vaf_use_level(int wanted) {
  if (wanted > processor_level()) return 0;
  level_in_use = wanted;
  return 1;
}
int vaf_forward_on(const VafCall* call, const VafRunner& runner) { return start(*call, false, runner); }
int vaf_backward_on(const VafCall* call, const VafRunner& runner) { return start(*call, true, runner); }
