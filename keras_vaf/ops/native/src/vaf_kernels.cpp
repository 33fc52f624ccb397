// The interface: chooses the instruction set, and how a call is divided.
#include "vaf_kernels.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "columns.h"
#include "rows.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace {

// Features that CMake compiles for, asked of the processor itself: libraries that
// zig links lack the data that `__builtin_cpu_supports` reads.
int processor_level() {
#if defined(__x86_64__)
  unsigned a, b, c, d, wide, low, high;
  if (!__get_cpuid_count(7, 0, &a, &wide, &c, &d)) return 2;
  __get_cpuid(1, &a, &b, &c, &d);
  if (!(c & bit_OSXSAVE)) return 2;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));  // registers that Linux saves
  const auto all = [](unsigned have, unsigned need) { return (have & need) == need; };
  const unsigned avx512 =
      bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  const bool v3 = all(low, 0x06) && all(c, bit_AVX | bit_FMA | bit_F16C) &&
                  all(wide, bit_AVX2 | bit_BMI | bit_BMI2);
  return !v3 ? 2 : all(low, 0xe6) && all(wide, avx512) ? 4 : 3;
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
  if (call.packed) return (void)std::fill_n(call.d_alpha, functions * step_of(call), 0.0f);
  for (float* sums : {call.d_alpha, call.d_alpha_bias, call.d_beta})
    std::fill_n(sums, functions * call.k, 0.0f);
  std::fill_n(call.d_beta_bias, functions, 0.0f);
}

int start(VafCall call, bool backward, const VafRunner& runner) {
  calls.fetch_add(1, std::memory_order_relaxed);
  if (!vaf_function(call.function)) return VAF_NOT_TAKEN;
  if (call.type < VAF_FLOAT32 || call.type > VAF_FLOAT16) return VAF_NOT_TAKEN;
  if (call.k < 1 || call.k > VAF_MOST_UNITS) return VAF_NOT_TAKEN;
  if (!sizes_fit(call, backward)) return VAF_WRONG_SIZE;
  if (call.packed && elements_of(call)) unpack(call, backward);
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

int vaf_interface(void) { return 4; }
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
