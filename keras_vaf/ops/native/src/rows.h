// A call in which long stretches of elements share a function.
#pragma once
#include "calls.h"
#include "lines.h"

namespace {

// Hidden units below which units are as fast as lines, and elements of a function below
// which finding its lines takes longer than they save.
const int FEWEST_LINES = 5;
const int64_t FEWEST_ELEMENTS = 1024;

// A task is a part of the elements of some functions. The elements of a function are
// `outer` stretches of `inner` elements.
struct RowPlan {
  const VafCall& call;
  const bool backward;
  const int64_t functions, outer, inner;
  int threads;
  int64_t task_functions, size;  // functions and elements of each function in a task
  bool use_lines;
  Groups groups;
  struct Space {
    std::vector<Lines> lines;
    std::vector<double> sums;  // (functions, sums)
  };
  std::vector<Space> spaces;  // one for each thread

  RowPlan(const VafCall& c, bool backward, int most_threads)
      : call(c), backward(backward), functions(c.networks * c.units),
        outer(c.units == 1 ? 1 : c.outer), inner(c.units == 1 ? c.outer * c.inner : c.inner),
        groups(c) {
    const int64_t bytes = vaf_sums(c.k) * 8 + (int64_t)sizeof(Lines), all = outer * inner;
    threads = threads_for(c, most_threads, bytes);
    const int64_t tasks = tasks_for(c, threads);
    const int64_t most = std::min(MEMORY_OF_A_TASK, half_of_x(c) / threads) / bytes;
    task_functions = within(parts_of(functions, tasks), most);
    const int64_t wanted = parts_of(tasks, parts_of(functions, task_functions));
    const int64_t fewest = within(wanted, std::min(groups.most(), all / FEWEST_ELEMENTS));
    size = parts_of(parts_of(all, fewest), 64) * 64;
    groups.allocate(parts_of(all, size), backward);
    use_lines = !backward && vaf_parts().takes_lines && c.function == VAF_LEAKY_RELU &&
                c.k >= FEWEST_LINES && c.k <= VAF_LINES && size >= FEWEST_ELEMENTS;
    spaces.resize(threads);
    for (Space& space : spaces) {
      if (use_lines) space.lines.resize(task_functions);
      if (backward) space.sums.resize(task_functions * vaf_sums(c.k));
    }
  }
  int64_t tasks() const { return parts_of(functions, task_functions) * groups.count; }

  void run(int64_t task, int thread) {
    Space& space = spaces[thread];
    const int64_t first = task / groups.count * task_functions, group = task % groups.count;
    const int64_t end = std::min(functions, first + task_functions), width = vaf_sums(call.k);
    std::fill(space.sums.begin(), space.sums.end(), 0.0);
    if (use_lines)
      for (int64_t f = first; f < end; f++) space.lines[f - first] = lines_of(function_of(f));
    const int64_t last = std::min(outer * inner, (group + 1) * size);
    for (int64_t at = group * size, n; at < last; at += n) {
      n = std::min<int64_t>({VAF_BLOCK, inner - at % inner, last - at});
      for (int64_t f = first; f < end; f++)
        block(f, at, (int)n, use_lines ? &space.lines[f - first] : nullptr,
              backward ? &space.sums[(f - first) * width] : nullptr);
    }
    for (int64_t f = first; backward && f < end; f++)
      groups.take(group, f, 1, &space.sums[(f - first) * width], 1);
  }

 private:
  static constexpr int64_t MEMORY_OF_A_TASK = 1 << 18;  // stays in the cache

  Function function_of(int64_t f) const {
    const int64_t at = f * step_of(call);
    Function function = {call.function, call.k, call.slope, call.alpha + at,
                    call.alpha_bias + at, call.beta + at,
                    call.beta_bias + f * bias_step_of(call), 1, nullptr, true};
    function.finite = finite(function);
    return function;
  }
  // Elements from `at` on of a function, which lie in one stretch.
  void block(int64_t f, int64_t at, int n, const Lines* lines, double* sums) const {
    const int64_t network = f / call.units, unit = f % call.units;
    const int64_t stretch = (network * outer + at / inner) * call.units + unit;
    const int64_t from = stretch * inner + at % inner;
    Function function = function_of(f);
    if (lines && lines->usable) function.lines = lines;
    float spaces[3][VAF_BLOCK];
    const float* x = read(call.x, call.type, from, n, spaces[0]);
    float* out = call.type == VAF_FLOAT32 ? (float*)call.out + from : spaces[2];
    if (backward)
      vaf_parts().row_backward(function, x, read(call.d, call.type, from, n, spaces[1]), out, n, sums);
    else
      vaf_parts().row_forward(function, x, out, n);
    write(call.out, call.type, from, n, out);
  }
};

}  // namespace
