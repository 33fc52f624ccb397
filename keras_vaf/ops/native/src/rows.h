// A call in which long stretches of elements share a function.
#pragma once
#include <vector>

#include "calls.h"
#include "lines.h"

namespace {

const int FEWEST_LINES = 5;  // hidden units below which units are as fast

// One function for each stretch of `inner` elements.
struct RowPlan {
  const VafCall& call;
  bool backward;
  int threads;
  int64_t functions, stretches, length;
  int64_t pieces, together;  // a task is a piece of a stretch, or some stretches together
  std::vector<Lines> lines;
  std::vector<double> sums;  // (threads, functions, sums)

  RowPlan(const VafCall& c, bool backward, int threads)
      : call(c), backward(backward), threads(threads) {
    functions = c.networks * c.units;
    length = c.inner;
    if (c.units == 1) length *= c.outer;
    stretches = c.networks * (c.units == 1 ? 1 : c.outer * c.units);
    pieces = std::max<int64_t>(1, (length + ELEMENTS_OF_A_TASK - 1) / ELEMENTS_OF_A_TASK);
    together = std::max<int64_t>(1, ELEMENTS_OF_A_TASK / length);
    const bool use = !backward && vaf_parts().takes_lines && c.function == VAF_LEAKY_RELU &&
                     c.k >= FEWEST_LINES && c.k <= VAF_LINES;
    if (use)
      for (int64_t i = 0; i < functions; i++) lines.push_back(lines_of(function_at(c, i)));
    if (backward) sums.resize(threads * functions * vaf_sums(c.k));
  }
  int64_t tasks() const { return (stretches + together - 1) / together * pieces; }

  void run(int64_t task, int thread) {
    const int64_t first = task / pieces * together, piece = task % pieces;
    const int64_t size = (length + pieces - 1) / pieces;
    const int64_t begin = piece * size, end = std::min(length, begin + size);
    for (int64_t s = first; s < std::min(stretches, first + together); s++)
      run_stretch(s, begin, end, thread);
  }
  // Elements `begin` to `end` of a stretch.
  void run_stretch(int64_t stretch, int64_t begin, int64_t end, int thread) {
    const int64_t per_network = call.units == 1 ? 1 : call.outer * call.units;
    const int64_t place = stretch / per_network * call.units + stretch % call.units;
    Function f = function_at(call, place);
    if (!lines.empty()) f.lines = &lines[place];
    double* own = backward ? &sums[(thread * functions + place) * vaf_sums(call.k)] : nullptr;
    float spaces[3][VAF_BLOCK];
    for (int64_t at = begin; at < end; at += VAF_BLOCK) {
      const int n = (int)std::min<int64_t>(VAF_BLOCK, end - at);
      const int64_t from = stretch * length + at;
      const float* x = read(call.x, call.type, from, n, spaces[0]);
      float* out = call.type == VAF_FLOAT32 ? (float*)call.out + from : spaces[2];
      if (backward)
        vaf_parts().row_backward(f, x, read(call.d, call.type, from, n, spaces[1]), out, n, own);
      else
        vaf_parts().row_forward(f, x, out, n);
      write(call.out, call.type, from, n, out);
    }
  }
  void gradients() {
    const int width = vaf_sums(call.k);
    for (int64_t i = 0; i < functions; i++) {
      double* first = &sums[i * width];
      for (int t = 1; t < threads; t++)
        for (int s = 0; s < width; s++) first[s] += sums[(t * functions + i) * width + s];
      finish(call, i, 1, first, 1);
    }
  }
};

}  // namespace
