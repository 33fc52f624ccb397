// The interface: chooses the instruction set, and how a call is divided.
#include "vaf_kernels.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "columns.h"
#include "rows.h"

namespace {

int processor_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v3 ? (v4 ? 4 : 3) : 2;
#else
  return 0;
#endif
}

std::atomic<int> level_in_use{processor_level()};
std::atomic<int64_t> calls{0};

// Runs body(task, thread) for every task.
template <class Body>
void each(const VafRunner& runner, int threads, int64_t tasks, Body body) {
  threads = (int)std::min<int64_t>(threads, tasks);
  if (threads > 1) {
    auto call = [](void* b, int64_t task, int thread) { (*(Body*)b)(task, thread); };
    return runner.run(runner.pool, threads, tasks, call, &body);
  }
  for (int64_t task = 0; task < tasks; task++) body(task, 0);
}

template <class Plan>
void execute(const VafCall& call, bool backward, const VafRunner& runner) {
  Plan plan(call, backward, runner.threads);
  each(runner, plan.threads, plan.tasks(),
       [&](int64_t task, int thread) { plan.run(task, thread); });
  each(runner, plan.threads, plan.groups.tasks(), [&](int64_t task, int) { plan.groups.run(task); });
}

// Of no elements: every sum is 0.
void nothing(const VafCall& call, bool backward) {
  if (!backward) return;
  const int64_t functions = call.networks * call.units;
  for (float* sums : {call.d_alpha, call.d_alpha_bias, call.d_beta})
    std::fill_n(sums, functions * call.k, 0.0f);
  std::fill_n(call.d_beta_bias, functions, 0.0f);
}

int start(const VafCall& call, bool backward, const VafRunner& runner) {
  calls.fetch_add(1, std::memory_order_relaxed);
  if (!vaf_function(call.function)) return VAF_NOT_TAKEN;
  if (call.type < VAF_FLOAT32 || call.type > VAF_FLOAT16) return VAF_NOT_TAKEN;
  if (call.k < 1 || call.k > VAF_MOST_UNITS) return VAF_NOT_TAKEN;
  if (!sizes_fit(call, backward)) return VAF_WRONG_SIZE;
  try {
    if (elements_of(call) == 0)
      nothing(call, backward);
    else if (call.units == 1 || call.inner >= SHORTEST_ROW)
      execute<RowPlan>(call, backward, runner);
    else
      execute<ColumnPlan>(call, backward, runner);
  } catch (const std::bad_alloc&) {
    return VAF_NO_MEMORY;
  }
  return 0;
}

}  // namespace

const VafParts& vaf_parts() {
#if defined(__x86_64__)
  const int level = level_in_use.load(std::memory_order_relaxed);
  if (level == 4) return vaf_parts_v4;
  if (level == 3) return vaf_parts_v3;
#endif
  return vaf_parts_base;
}

int vaf_interface(void) { return 3; }
// Every function has a name: the compiler refuses a `switch` that lacks one.
#pragma GCC diagnostic error "-Wswitch"
const char* vaf_function(int number) {
  switch ((VafFunction)number) {
    case VAF_LEAKY_RELU: return "leaky_relu";
    case VAF_TANH: return "tanh";
    case VAF_SIGMOID: return "sigmoid";
    case VAF_SILU: return "silu";
    case VAF_GELU: return "gelu";
    case VAF_SIN: return "sin";
  }
  return nullptr;
}
const char* vaf_message(int returned) {
  switch (returned) {
    case VAF_NO_MEMORY: return "The native kernels ran out of memory.";
    case VAF_WRONG_SIZE:
      return "The native kernels need arrays whose shapes fit together: x and its gradient "
             "alike, and parameters for as many functions and hidden units as the call has.";
    default: return "The native kernels do not support this call.";
  }
}
int vaf_level(void) { return level_in_use; }
int64_t vaf_calls(void) { return calls; }
int vaf_use_level(int wanted) {
  if (wanted > processor_level()) return 0;
  level_in_use = wanted;
  return 1;
}
int vaf_forward_on(const VafCall* call, const VafRunner& runner) {
  return start(*call, false, runner);
}
int vaf_backward_on(const VafCall* call, const VafRunner& runner) {
  return start(*call, true, runner);
}
