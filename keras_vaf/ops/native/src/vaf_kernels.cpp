// The interface: chooses the instruction set, and how a call is divided.
#include "vaf_kernels.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "rows.h"
#include "tiles.h"

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

int threads_for(const VafCall& call, const VafRunner& runner) {
  const int64_t elements = call.networks * call.outer * call.units * call.inner;
  return elements < 2 * ELEMENTS_OF_A_TASK ? 1 : std::max(1, runner.threads);
}

template <class Plan>
void execute(const VafCall& call, bool backward, const VafRunner& runner) {
  const int threads = threads_for(call, runner);
  Plan plan(call, backward, threads);
  auto body = [](void* p, int64_t task, int thread) { ((Plan*)p)->run(task, thread); };
  if (threads == 1)
    for (int64_t task = 0; task < plan.tasks(); task++) plan.run(task, 0);
  else
    runner.run(runner.pool, threads, plan.tasks(), body, &plan);
  if (backward) plan.gradients();
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
  if (call.function < VAF_LEAKY_RELU || call.function > VAF_SIN) return VAF_NOT_TAKEN;
  if (call.type < VAF_FLOAT32 || call.type > VAF_FLOAT16) return VAF_NOT_TAKEN;
  if (call.k < 1 || call.k > VAF_MOST_UNITS) return VAF_NOT_TAKEN;
  try {
    if (call.networks * call.outer * call.units * call.inner == 0)
      nothing(call, backward);
    else if (call.units == 1 || call.inner >= SHORTEST_ROW)
      execute<RowPlan>(call, backward, runner);
    else if (TilePlan::takes(call, threads_for(call, runner)))
      execute<TilePlan>(call, backward, runner);
    else
      execute<ColumnPlan>(call, backward, runner);
  } catch (const std::exception&) {  // an allocation failed
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

int vaf_interface(void) { return 2; }
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
