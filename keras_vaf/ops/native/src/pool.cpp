// Threads for callers that bring none of their current: PyTorch through ctypes, TensorFlow.
//
// The threads are those of OpenMP where the caller has it, as PyTorch has. OpenMP's threads
// wait actively, and would take the processors from other threads.
//
// Otherwise there is one pool for the process. A second caller at the same time, or one
// inside a task, runs its tasks alone. After a fork the child starts a pool of its current.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "vaf_kernels.h"

namespace {

class Pool {
 public:
  void run(int threads, int64_t tasks, VafBody body, void* argument) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      body_ = body, argument_ = argument, tasks_ = tasks;
      next_ = 0;
      wanted_ = busy_ = have(threads - 1);
      round_++;
    }
    wake_.notify_all();
    take(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  // Starts threads until there are as many as wanted, or the system refuses more.
  int have(int wanted) {
    try {
      while ((int)workers_.size() < wanted) {
        const int number = (int)workers_.size() + 1;
        workers_.emplace_back([this, number] { work(number); });
      }
    } catch (const std::exception&) {  // std::system_error or std::bad_alloc
    }
    return std::min((int)workers_.size(), wanted);
  }
  void take(int thread) {
    for (int64_t task; (task = next_.fetch_add(1)) < tasks_;) body_(argument_, task, thread);
  }
  void work(int number) {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return round_ != seen && number <= wanted_; });
        seen = round_;
      }
      take(number);
      std::lock_guard<std::mutex> lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  std::atomic<int64_t> next_{0};
  int64_t tasks_ = 0;
  VafBody body_ = nullptr;
  void* argument_ = nullptr;
  int wanted_ = 0, busy_ = 0;
  uint64_t round_ = 0;
};

std::atomic<bool> in_use{false};
Pool* pool = nullptr;  // belongs to whoever set `in_use`; its threads never end

// `GOMP_parallel` of OpenMP.
typedef void (*Parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
std::atomic<Parallel> openmp{nullptr};

struct Shared {
  int64_t tasks;
  VafBody body;
  void* argument;
  std::atomic<int64_t> next{0};
  std::atomic<int> thread{0};
};
void take_shared(void* data) {
  Shared& shared = *(Shared*)data;
  const int thread = shared.thread.fetch_add(1);
  for (int64_t task; (task = shared.next.fetch_add(1)) < shared.tasks;)
    shared.body(shared.argument, task, thread);
}

// The threads stay in the parent process, and whoever used them too.
void after_fork() {
  openmp = nullptr;
  pool = nullptr;
  in_use = false;
}
const int registered = pthread_atfork(nullptr, nullptr, after_fork);

void run_in_pool(void*, int threads, int64_t tasks, VafBody body, void* argument) {
  const Parallel parallel = openmp;
  if (parallel && threads > 1) {
    Shared shared = {tasks, body, argument};
    return parallel(take_shared, &shared, (unsigned)threads, 0);
  }
  if (threads > 1 && !in_use.exchange(true)) {
    if (!pool) pool = new (std::nothrow) Pool;
    Pool* current = pool;
    if (current) current->run(threads, tasks, body, argument);
    in_use = false;
    if (current) return;
  }
  for (int64_t task = 0; task < tasks; task++) body(argument, task, 0);
}

}  // namespace

void vaf_use_openmp(void* parallel) { openmp = (Parallel)parallel; }
int vaf_forward(const VafCall* call, int threads) {
  return vaf_forward_on(call, VafRunner{threads, nullptr, run_in_pool});
}
int vaf_backward(const VafCall* call, int threads) {
  return vaf_backward_on(call, VafRunner{threads, nullptr, run_in_pool});
}
