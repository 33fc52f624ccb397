// Random calls of the kernels against double precision: `driver CASES CALLERS SEED`.
//
// `run.py` builds it with sanitizers. Arrays have exactly the size that a call needs. Each
// case also runs with a wrong size, which must be refused, and with allocations that fail.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "numbers.h"
#include "vaf_kernels.h"

// Allocations of this thread that succeed before one fails; negative: all succeed.
static thread_local int64_t allowed = -1;
void* operator new(size_t size) {
  if (allowed == 0) throw std::bad_alloc();
  if (allowed > 0) allowed--;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  if (allowed == 0) return nullptr;
  return std::malloc(size ? size : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace {

std::atomic<int64_t> checked{0}, wrong{0}, refused{0}, failed_allocations{0};

double value(int g, double h, double leak) {
  switch ((VafFunction)g) {
    case VAF_LEAKY_RELU: return h > 0 ? h : leak * h;
    case VAF_TANH: return std::tanh(h);
    case VAF_SIGMOID: return 1 / (1 + std::exp(-h));
    case VAF_SILU: return h / (1 + std::exp(-h));
    case VAF_GELU: return h * 0.5 * std::erfc(-h * M_SQRT1_2);
    case VAF_SIN: return std::sin(h);
  }
  std::abort();
}
double slope(int g, double h, double leak) {
  const double s = 1 / (1 + std::exp(-h));
  switch ((VafFunction)g) {
    case VAF_LEAKY_RELU: return h > 0 ? 1 : leak;
    case VAF_TANH: return 1 - std::tanh(h) * std::tanh(h);
    case VAF_SIGMOID: return s * (1 - s);
    case VAF_SILU: return s * (1 + h * (1 - s));
    case VAF_GELU:
      return 0.5 * std::erfc(-h * M_SQRT1_2) + h * std::exp(-h * h / 2) / std::sqrt(2 * M_PI);
    case VAF_SIN: return std::cos(h);
  }
  std::abort();
}

// Numbers of a VafType, in memory of exactly their size.
struct Numbers {
  int type;
  int64_t size;
  char* memory;
  Numbers(int type, int64_t size) : type(type), size(size), memory((char*)std::malloc(bytes())) {}
  ~Numbers() { std::free(memory); }
  Numbers(const Numbers&) = delete;
  int64_t bytes() const { return size * (type == VAF_FLOAT32 ? 4 : 2); }
  float get(int64_t i) const {
    if (type == VAF_FLOAT32) return ((float*)memory)[i];
    const uint16_t bits = ((uint16_t*)memory)[i];
    return type == VAF_BFLOAT16 ? from_bfloat16(bits) : from_float16(bits);
  }
  void set(int64_t i, float v) {
    if (type == VAF_FLOAT32)
      ((float*)memory)[i] = v;
    else
      ((uint16_t*)memory)[i] = type == VAF_BFLOAT16 ? to_bfloat16(v) : to_float16(v);
  }
};

// A number with the sum of the sizes of its terms, which bounds its rounding error.
struct Sum {
  double all = 0, size = 0;
  void add(double term, double of) { all += term, size += std::abs(of); }
};

struct Case {
  std::mt19937 random;
  int function, type, k, threads;
  bool packed;
  float leak;
  int64_t networks, outer, units, inner;

  int64_t any(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  explicit Case(unsigned seed) : random(seed) {
    function = (int)any(0, 5), type = (int)any(0, 2), leak = any(0, 1) ? 0.2f : 0.0f;
    k = (int)(any(0, 3) ? any(1, 6) : any(7, 64));
    threads = (int)(any(0, 9) ? any(1, 5) : 64), packed = any(0, 1);
    networks = any(0, 4) ? 1 : any(1, 3);
    units = any(0, 2) ? any(1, 40) : any(0, 1) ? 1 : any(1, 1500);
    inner = any(0, 1) ? 1 : any(1, 60);
    const int64_t most = any(0, 3) ? 3000 : 150'000 / k;
    outer = any(0, 30) ? any(1, std::max<int64_t>(1, most / (units * inner))) : 0;
  }
  int64_t functions() const { return networks * units; }
  int64_t elements() const { return networks * outer * units * inner; }
  int64_t unit_of(int64_t i) const {
    return i / (outer * units * inner) * units + i / inner % units;
  }
  // Copies parameters into the rows of a packed call, or gradients out of them.
  void copy(Numbers* const (&parts)[4], Numbers& rows, bool out) const {
    int64_t row = 0;
    for (int64_t u = 0; u < functions(); u++)
      for (Numbers* part : parts) {
        const int64_t width = part->size / functions();
        for (int64_t i = u * width; i < (u + 1) * width; i++, row++)
          out ? part->set(i, rows.get(row)) : rows.set(row, part->get(i));
      }
  }
  void run();
  void compare(const char* what, int64_t i, double have, double want, double size, int type) {
    const double rounding = type == VAF_BFLOAT16 ? 1 / 256. : type == VAF_FLOAT16 ? 1 / 2048. : 0;
    const double tiny = type == VAF_FLOAT16 ? std::ldexp(1, -25) : 1e-37;
    if (std::abs(have - want) <= 8 * std::ldexp(size, -23) + rounding * std::abs(want) + tiny) return;
    if (wrong++ < 20)
      std::printf("wrong %s[%ld]: %g, not %g; g %d k %d type %d shape %ld %ld %ld %ld threads %d\n",
                  what, (long)i, have, want, function, k, type, (long)networks, (long)outer,
                  (long)units, (long)inner, threads);
  }
};

void Case::run() {
  std::normal_distribution<float> normal;
  const int64_t n = elements(), weights = functions() * k;
  Numbers x(type, n), d(type, n), y(type, n), dx(type, n);
  Numbers alpha(0, weights), alpha_bias(0, weights), beta(0, weights), beta_bias(0, functions());
  Numbers d_alpha(0, weights), d_alpha_bias(0, weights), d_beta(0, weights);
  Numbers d_beta_bias(0, functions());
  for (Numbers* all : {&x, &d, &alpha, &alpha_bias, &beta, &beta_bias})
    for (int64_t i = 0; i < all->size; i++) all->set(i, normal(random));
  std::vector<Sum> f(n), fx(n), sums[4];
  for (auto& all : sums) all.assign(weights, Sum());
  for (int64_t i = 0; i < n; i++) {
    const int64_t u = unit_of(i);
    for (int64_t p = u * k; p < (u + 1) * k; p++) {
      const double a = alpha.get(p), c = alpha_bias.get(p), v = x.get(i);
      if (std::abs(a * v + c) < 5e-7 * (std::abs(a * v) + std::abs(c))) d.set(i, 0);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t u = unit_of(i);
    const double v = x.get(i), e = d.get(i);
    f[i].add(beta_bias.get(u), beta_bias.get(u));
    sums[3][u].add(e, e);
    for (int64_t p = u * k; p < (u + 1) * k; p++) {
      const double a = alpha.get(p), c = alpha_bias.get(p), b = beta.get(p), h = a * v + c;
      const double size = std::abs(a * v) + std::abs(c), g = value(function, h, leak);
      const double dg = slope(function, h, leak), near = std::abs(dg) + size;
      f[i].add(b * g, std::abs(b) * (std::abs(g) + size));
      fx[i].add(e * a * b * dg, e * a * b * near);
      sums[0][p].add(e * v * b * dg, e * v * b * near);
      sums[1][p].add(e * b * dg, e * b * near);
      sums[2][p].add(e * g, std::abs(e) * (std::abs(g) + size));
    }
  }
  VafCall call = {function, type, leak, k, networks, outer, units, inner};
  call.x = x.memory, call.d = d.memory, call.out = y.memory;
  call.alpha = (float*)alpha.memory, call.alpha_bias = (float*)alpha_bias.memory;
  call.beta = (float*)beta.memory, call.beta_bias = (float*)beta_bias.memory;
  call.d_alpha = (float*)d_alpha.memory, call.d_alpha_bias = (float*)d_alpha_bias.memory;
  call.d_beta = (float*)d_beta.memory, call.d_beta_bias = (float*)d_beta_bias.memory;
  Numbers rows(0, packed ? functions() * (3 * k + 1) : 0), d_rows(0, rows.size);
  Numbers* const parameters[] = {&alpha, &alpha_bias, &beta, &beta_bias};
  Numbers* const gradients[] = {&d_alpha, &d_alpha_bias, &d_beta, &d_beta_bias};
  const Numbers* arrays[] = {&x, &d, &y, &alpha, &alpha_bias, &beta, &beta_bias,
                             &d_alpha, &d_alpha_bias, &d_beta, &d_beta_bias};
  for (int i = 0; i < VAF_ARRAYS; i++) call.bytes[i] = arrays[i]->bytes();
  if (packed) {
    copy(parameters, rows, false);
    call.packed = 1, call.alpha = (float*)rows.memory, call.d_alpha = (float*)d_rows.memory;
    call.bytes[VAF_ALPHA] = rows.bytes(), call.bytes[VAF_D_ALPHA] = d_rows.bytes();
  }
  VafCall bad = call;
  int64_t which;
  do which = any(0, VAF_ARRAYS - 1);
  while (packed && which > VAF_ALPHA && which != VAF_D_ALPHA);  // the others are not read
  bad.bytes[which] += any(0, 1) ? 4 : -4;
  if (vaf_backward(&bad, threads) == VAF_WRONG_SIZE) refused++;
  else wrong++;
  // The first allocation fails, then the second, and so on until none is left to fail.
  auto repeat = [&](int (*run)(const VafCall*, int)) {
    for (int64_t first = any(0, 3) ? -1 : 0;; first++) {
      allowed = first;
      const int returned = run(&call, threads);
      const bool ran_out = returned == VAF_NO_MEMORY;
      allowed = -1;
      if (!returned) return;
      if (!ran_out || first < 0 || first > 1000) std::abort();
      failed_allocations++;
    }
  };
  repeat(vaf_forward);
  call.out = dx.memory;
  repeat(vaf_backward);
  if (packed) copy(gradients, d_rows, true);
  for (int64_t i = 0; i < n; i++) {
    compare("f", i, y.get(i), f[i].all, f[i].size, type);
    compare("dx", i, dx.get(i), fx[i].all, fx[i].size, type);
  }
  for (int s = 0; s < 4; s++)
    for (int64_t i = 0; i < gradients[s]->size; i++)
      compare("sum", i, gradients[s]->get(i), sums[s][i].all, sums[s][i].size, VAF_FLOAT32);
  checked++;
}

}  // namespace

int main(int, char** arguments) {
  const int cases = std::atoi(arguments[1]), callers = std::atoi(arguments[2]);
  const unsigned seed = (unsigned)std::atoi(arguments[3]);
  const int best = vaf_level();
  for (int level : {2, 3, 4}) {
    if (best && !vaf_use_level(level)) break;
    std::vector<std::thread> threads;
    for (int c = 0; c < callers; c++)
      threads.emplace_back([=] {
        for (int i = c; i < cases; i += callers) Case(seed + (unsigned)(cases * level + i)).run();
      });
    for (std::thread& thread : threads) thread.join();
    if (!best) break;
  }
  std::printf("%ld cases by %d callers, %ld wrong, %ld wrong sizes refused, %ld failed allocations\n",
              (long)checked, callers, (long)wrong, (long)refused, (long)failed_allocations);
  return wrong || refused != checked;
}
