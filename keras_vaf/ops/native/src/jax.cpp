// The kernels as foreign functions of XLA, for JAX. Threads are those of XLA.
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
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
    auto* shared = new (std::nothrow) std::shared_ptr<Work>(work);
    if (!shared) break;  // this thread then takes more of the tasks
    xla::Schedule schedule = {sizeof schedule, nullptr, call.context, start_thread, shared};
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

// XLA asks for the version before the first call, and refuses one that it does not know.
bool answers_metadata(const xla::Call& call) {
  if (!call.extensions || call.extensions->kind != xla::METADATA) return false;
  xla::Metadata& metadata = *((xla::MetadataExtension*)call.extensions)->metadata;
  metadata.version.major = xla::MAJOR;
  metadata.version.minor = xla::MINOR;
  metadata.traits = 0;
  return true;
}

const void* attribute(const xla::Attributes& attributes, const char* name, int kind) {
  for (int64_t i = 0; i < attributes.count; i++) {
    const xla::Text& given = *attributes.names[i];
    if (given.length == std::strlen(name) && !std::memcmp(given.begin, name, given.length))
      return attributes.kinds[i] == kind ? attributes.all[i] : nullptr;
  }
  return nullptr;
}

xla::Error* fail(const xla::Call& call, int code, const char* message) {
  xla::CreateError error = {sizeof error, nullptr, message, code};
  return call.api->create_error(&error);
}

int64_t count(const xla::Buffer& buffer) {
  int64_t all = 1;
  for (int64_t i = 0; i < buffer.rank; i++) all *= buffer.sizes[i];
  return all;
}

bool are_buffers(const xla::Buffers& buffers, int64_t wanted) {
  bool all = buffers.count == wanted;
  for (int64_t i = 0; all && i < wanted; i++) all = buffers.kinds[i] == xla::BUFFER;
  return all;
}

// The memory of an array, whose size is entered; -1 for another type, which is refused.
void* enter(VafCall& vaf, VafArray array, const xla::Buffer& buffer, int type) {
  const int64_t bytes = type == xla::FLOAT32 ? 4 : 2;
  vaf.bytes[array] = buffer.type == type ? bytes * count(buffer) : -1;
  return buffer.data;
}

// Attribute `case` holds function, k, outer, units and inner.
bool enter_attributes(VafCall& vaf, const xla::Attributes& attributes) {
  const auto* sizes = (const xla::Array*)attribute(attributes, "case", xla::ARRAY);
  const auto* slope = (const xla::Scalar*)attribute(attributes, "slope", xla::SCALAR);
  if (!sizes || sizes->type != xla::INT64 || sizes->count != 5) return false;
  if (!slope || slope->type != xla::FLOAT32) return false;
  const int64_t* all = (const int64_t*)sizes->data;
  vaf.function = (int32_t)all[0], vaf.k = (int32_t)all[1];
  vaf.outer = all[2], vaf.units = all[3], vaf.inner = all[4];
  vaf.slope = *(const float*)slope->value;
  return vaf.function == all[0] && vaf.k == all[1];
}

// Fills in a call; returns false if it is not one of this library. Leading axes that
// `case` does not count come from `vmap`: the networks.
bool prepare(const xla::Call& call, bool backward, VafCall& vaf) {
  if (!are_buffers(call.arguments, 5 + backward)) return false;
  if (!are_buffers(call.results, backward ? 5 : 1)) return false;
  if (!enter_attributes(vaf, call.attributes)) return false;
  xla::Buffer **a = call.arguments.all + backward, **out = call.results.all;
  const int type = a[0]->type;
  vaf.type = type == xla::FLOAT32    ? VAF_FLOAT32
             : type == xla::BFLOAT16 ? VAF_BFLOAT16
                                     : VAF_FLOAT16;
  if (vaf.type == VAF_FLOAT16 && type != xla::FLOAT16) return false;
  vaf.networks = vaf.units > 0 ? count(*a[4]) / vaf.units : 0;
  vaf.x = enter(vaf, VAF_X, *a[0], type), vaf.out = enter(vaf, VAF_OUT, *out[0], type);
  auto weights = [&](VafArray array, const xla::Buffer& buffer) {
    return (float*)enter(vaf, array, buffer, xla::FLOAT32);
  };
  vaf.alpha = weights(VAF_ALPHA, *a[1]), vaf.alpha_bias = weights(VAF_ALPHA_BIAS, *a[2]);
  vaf.beta = weights(VAF_BETA, *a[3]), vaf.beta_bias = weights(VAF_BETA_BIAS, *a[4]);
  if (!backward) return true;
  vaf.d = enter(vaf, VAF_D, *a[-1], type);
  vaf.d_alpha = weights(VAF_D_ALPHA, *out[1]);
  vaf.d_alpha_bias = weights(VAF_D_ALPHA_BIAS, *out[2]);
  vaf.d_beta = weights(VAF_D_BETA, *out[3]);
  vaf.d_beta_bias = weights(VAF_D_BETA_BIAS, *out[4]);
  return true;
}

xla::Error* run(const xla::Call& call, bool backward) {
  if (answers_metadata(call)) return nullptr;
  VafCall vaf = {};
  int failed = VAF_NOT_TAKEN;
  if (prepare(call, backward, vaf)) {
    VafRunner runner = {threads_of(call), (void*)&call, run_in_xla};
    failed = backward ? vaf_backward_on(&vaf, runner) : vaf_forward_on(&vaf, runner);
  }
  if (!failed) return nullptr;
  const bool memory = failed == VAF_NO_MEMORY;
  return fail(call, memory ? xla::RESOURCE_EXHAUSTED : xla::INVALID_ARGUMENT,
              vaf_message(failed));
}

}  // namespace

extern "C" {

// x, alpha, alpha_bias, beta, beta_bias -> f(x)
VAF_PUBLIC xla::Error* vaf_xla_forward(const xla::Call* call) { return run(*call, false); }

// upstream, x, alpha, alpha_bias, beta, beta_bias -> the gradients of the last five
VAF_PUBLIC xla::Error* vaf_xla_backward(const xla::Call* call) { return run(*call, true); }
}
