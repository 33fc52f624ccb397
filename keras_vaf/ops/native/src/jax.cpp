// The kernels as foreign functions of XLA, for JAX. Threads are those of XLA.
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "vaf_kernels.h"
#include "xla.h"

namespace {

// What the threads of a call share. A thread that starts late finds no task left and
// touches nothing else, so the caller need not wait for it.
struct Work {
  std::atomic<int64_t> next{0}, done{0};
  std::atomic<int> thread{1};
  int64_t tasks;
  VafBody body;
  void* argument;

  void take(int thread) {
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      body(argument, task, thread);
      done.fetch_add(1, std::memory_order_release);
    }
  }
};

void start_thread(void* data) {
  std::unique_ptr<std::shared_ptr<Work>> work((std::shared_ptr<Work>*)data);
  (*work)->take((*work)->thread.fetch_add(1));
}

void run_in_xla(void* pool, int threads, int64_t tasks, VafBody body, void* argument) {
  const xla::Call& call = *(const xla::Call*)pool;
  auto work = std::make_shared<Work>();
  work->tasks = tasks, work->body = body, work->argument = argument;
  const int others = (int)(tasks < threads ? tasks : threads) - 1;
  for (int i = 0; i < others; i++) {
    xla::Schedule schedule = {sizeof schedule, nullptr, call.context, start_thread,
                              new std::shared_ptr<Work>(work)};
    call.api->schedule(&schedule);
  }
  work->take(0);
  while (work->done.load(std::memory_order_acquire) < tasks) std::this_thread::yield();
}

int threads_of(const xla::Call& call) {
  int64_t count = 1;
  xla::CountThreads args = {sizeof args, nullptr, call.context, &count};
  if (call.api->count_threads(&args)) return 1;
  return (int)count;
}

// XLA asks for the version before the first call. The members used here are the same in
// all versions, so the answer is XLA's own version.
bool answers_metadata(const xla::Call& call) {
  if (!call.extensions || call.extensions->kind != xla::METADATA) return false;
  xla::Metadata& metadata = *((xla::MetadataExtension*)call.extensions)->metadata;
  metadata.version.major = call.api->version.major;
  metadata.version.minor = call.api->version.minor;
  metadata.traits = 0;
  return true;
}

const void* attribute(const xla::Attributes& attributes, const char* name) {
  for (int64_t i = 0; i < attributes.count; i++) {
    const xla::Text& own = *attributes.names[i];
    if (own.length == std::strlen(name) && !std::memcmp(own.begin, name, own.length))
      return attributes.all[i];
  }
  return nullptr;
}

xla::Error* fail(const xla::Call& call, const char* message) {
  xla::CreateError error = {sizeof error, nullptr, message, xla::INTERNAL_ERROR};
  return call.api->create_error(&error);
}

int64_t count(const xla::Buffer& buffer) {
  int64_t all = 1;
  for (int64_t i = 0; i < buffer.rank; i++) all *= buffer.sizes[i];
  return all;
}

// Fills in what both directions share; `first` is x, followed by the parameters.
// Attribute `case` holds function, k, outer, units and inner. Leading axes beyond these
// come from `vmap`: the networks.
bool prepare(const xla::Call& call, int first, VafCall& vaf) {
  const auto* sizes = (const xla::Array*)attribute(call.attributes, "case");
  const auto* slope = (const xla::Scalar*)attribute(call.attributes, "slope");
  if (!sizes || !slope || sizes->count != 5) return false;
  const int64_t* all = (const int64_t*)sizes->data;
  xla::Buffer** a = call.arguments.all + first;
  vaf.function = (int32_t)all[0], vaf.k = (int32_t)all[1];
  vaf.outer = all[2], vaf.units = all[3], vaf.inner = all[4];
  vaf.slope = *(const float*)slope->value;
  vaf.type = a[0]->type == xla::FLOAT32    ? VAF_FLOAT32
             : a[0]->type == xla::BFLOAT16 ? VAF_BFLOAT16
                                           : VAF_FLOAT16;
  vaf.networks = vaf.units ? count(*a[4]) / vaf.units : 0;
  vaf.x = a[0]->data, vaf.out = call.results.all[0]->data;
  vaf.alpha = (float*)a[1]->data, vaf.alpha_bias = (float*)a[2]->data;
  vaf.beta = (float*)a[3]->data, vaf.beta_bias = (float*)a[4]->data;
  return true;
}

xla::Error* run(const xla::Call& call, VafCall& vaf, bool ready, bool backward) {
  if (!ready) return fail(call, "keras-vaf-kernels: wrong attributes");
  VafRunner runner = {threads_of(call), (void*)&call, run_in_xla};
  const int failed =
      backward ? vaf_backward_on(&vaf, runner) : vaf_forward_on(&vaf, runner);
  return failed ? fail(call, "keras-vaf-kernels: the call failed") : nullptr;
}

}  // namespace

extern "C" {

// x, alpha, alpha_bias, beta, beta_bias -> f(x)
VAF_PUBLIC xla::Error* vaf_xla_forward(const xla::Call* call) {
  if (answers_metadata(*call)) return nullptr;
  VafCall vaf = {};
  const bool ready = prepare(*call, 0, vaf);
  return run(*call, vaf, ready, false);
}

// upstream, x, alpha, alpha_bias, beta, beta_bias -> the gradients of the last five
VAF_PUBLIC xla::Error* vaf_xla_backward(const xla::Call* call) {
  if (answers_metadata(*call)) return nullptr;
  VafCall vaf = {};
  const bool ready = prepare(*call, 1, vaf);
  vaf.d = call->arguments.all[0]->data;
  xla::Buffer** out = call->results.all;
  vaf.d_alpha = (float*)out[1]->data, vaf.d_alpha_bias = (float*)out[2]->data;
  vaf.d_beta = (float*)out[3]->data, vaf.d_beta_bias = (float*)out[4]->data;
  return run(*call, vaf, ready, true);
}
}
