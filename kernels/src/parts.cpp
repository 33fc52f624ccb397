// Compiled once for each instruction set, with -DPARTS=NAME -DLANES=N.
//
// A row and a column are the same work: vectors that lie `step` elements apart, all of
// them with the same vectors of parameters. In a row the lanes of a parameter are equal.
#include "parts.h"

#include <cstring>

#include "functions.h"
#include "numbers.h"
#include "vaf_kernels.h"
#ifdef __AVX512F__
#include "lines_avx512.h"
#endif

namespace {

enum { MOST_VECTORS = VAF_BLOCK / LANES > VAF_ROWS ? VAF_BLOCK / LANES : VAF_ROWS };

struct Unit {
  V a, c, b;  // alpha, alpha_bias, beta
};

inline V get(const float* p, int m) {
  if (m == LANES) return load(p);
  V v = {};
  std::memcpy(&v, p, m * sizeof(float));
  return v;
}
inline void put(float* p, int m, V v) {
  if (m == LANES)
    store(p, v);
  else
    std::memcpy(p, &v, m * sizeof(float));
}
inline double total(V v) {
  double sum = 0;
  for (int i = 0; i < LANES; i++) sum += v[i];
  return sum;
}

// Brings the next vector of columns to the cache.
inline void prefetch(const float* p) { __builtin_prefetch(p + 64 / sizeof(float)); }

// Where `count` vectors of m lanes lie.
struct Place {
  int count, m;
  int64_t step;
};

// value += the sum of K units.
template <class G, int K>
inline void add_units(const Unit* units, V leak, const float* x, Place at, int m, V* value) {
  for (int i = 0; i < at.count; i++) {
    prefetch(x + i * at.step);
    V v = get(x + i * at.step, m), sum = value[i];
#pragma GCC unroll 4
    for (int j = 0; j < K; j++) {
      V g, dg;
      G::apply(units[j].a * v + units[j].c, leak, g, dg);
      sum += units[j].b * g;
    }
    value[i] = sum;
  }
}

// slope += that of K units, and their sums.
template <class G, int K>
inline void add_slopes(const Unit* units, V leak, const float* x, const float* d, Place at,
                       int m, V* slope, V* sums) {
  V w[K], s0[K], s1[K], s2[K];
  for (int j = 0; j < K; j++) w[j] = units[j].a * units[j].b, s0[j] = s1[j] = s2[j] = V{};
  for (int i = 0; i < at.count; i++) {
    prefetch(x + i * at.step), prefetch(d + i * at.step);
    V v = get(x + i * at.step, m), e = get(d + i * at.step, m), ev = e * v, own = slope[i];
#pragma GCC unroll 4
    for (int j = 0; j < K; j++) {
      V g, dg;
      G::apply(units[j].a * v + units[j].c, leak, g, dg);
      own += w[j] * dg;
      s0[j] += e * dg;
      s1[j] += ev * dg;
      if (!G::linear) s2[j] += e * g;
    }
    slope[i] = own;
  }
  for (int j = 0; j < K; j++)
    sums[3 * j] = s0[j], sums[3 * j + 1] = s1[j], sums[3 * j + 2] = s2[j];
}

// Units at a time whose parameters and sums stay in registers.
template <class G>
constexpr int together() {
  return G::linear ? (LANES == 16 ? 4 : 2) : 1;
}

template <class G>
void forward(const Function& f, const Unit* units, V beta_bias, const float* x, float* y,
             Place at) {
  const V leak = splat(f.leak);
  V value[MOST_VECTORS];
  for (int i = 0; i < at.count; i++) value[i] = beta_bias;
  constexpr int K = together<G>();
  int j = 0;
  if (at.m == LANES) {
    for (; j + K <= f.k; j += K) add_units<G, K>(units + j, leak, x, at, LANES, value);
    for (; j < f.k; j++) add_units<G, 1>(units + j, leak, x, at, LANES, value);
  }
  for (; j < f.k; j++) add_units<G, 1>(units + j, leak, x, at, at.m, value);
  for (int i = 0; i < at.count; i++) put(y + i * at.step, at.m, value[i]);
}

// `sums` gets vaf_sums(k) vectors.
template <class G>
void backward(const Function& f, const Unit* units, const float* x, const float* d,
              float* dx, Place at, V* sums) {
  const V leak = splat(f.leak);
  V slope[MOST_VECTORS], all = {};
  for (int i = 0; i < at.count; i++) slope[i] = V{}, all += get(d + i * at.step, at.m);
  sums[0] = all;
  constexpr int K = together<G>();
  int j = 0;
  if (at.m == LANES) {
    for (; j + K <= f.k; j += K)
      add_slopes<G, K>(units + j, leak, x, d, at, LANES, slope, sums + 1 + 3 * j);
    for (; j < f.k; j++)
      add_slopes<G, 1>(units + j, leak, x, d, at, LANES, slope, sums + 1 + 3 * j);
  }
  for (; j < f.k; j++)
    add_slopes<G, 1>(units + j, leak, x, d, at, at.m, slope, sums + 1 + 3 * j);
  for (int i = 0; i < at.count; i++)
    put(dx + i * at.step, at.m, get(d + i * at.step, at.m) * slope[i]);
}

#define VAF_CHOOSE(name, kind, ...)                        \
  switch (kind) {                                          \
    case VAF_TANH: name<Tanh>(__VA_ARGS__); break;         \
    case VAF_SIGMOID: name<Sigmoid>(__VA_ARGS__); break;   \
    case VAF_SILU: name<Silu>(__VA_ARGS__); break;         \
    case VAF_GELU: name<Gelu>(__VA_ARGS__); break;         \
    case VAF_SIN: name<Sin>(__VA_ARGS__); break;           \
    default: name<LeakyRelu>(__VA_ARGS__);                 \
  }

// A row: whole vectors, then the elements that are left.
template <class Body>
inline void each_place(int n, Body body) {
  const int whole = n / LANES;
  if (whole) body(0, Place{whole, LANES, LANES});
  if (n % LANES) body(whole * LANES, Place{1, n % LANES, LANES});
}

void row_forward(const Function& f, const float* x, float* y, int n) {
#ifdef __AVX512F__
  if (f.lines) return lines_forward(f, x, y, n);
#endif
  Unit units[VAF_MOST_UNITS];
  for (int j = 0; j < f.k; j++)
    units[j] = {splat(f.alpha[j]), splat(f.alpha_bias[j]), splat(f.beta[j])};
  each_place(n, [&](int i, Place at) {
    VAF_CHOOSE(forward, f.kind, f, units, splat(*f.beta_bias), x + i, y + i, at)
  });
}

void row_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                  double* sums) {
#ifdef __AVX512F__
  if (f.lines) return lines_backward(f, x, d, dx, n, sums);
#endif
  Unit units[VAF_MOST_UNITS];
  for (int j = 0; j < f.k; j++)
    units[j] = {splat(f.alpha[j]), splat(f.alpha_bias[j]), splat(f.beta[j])};
  each_place(n, [&](int i, Place at) {
    V own[vaf_sums(VAF_MOST_UNITS)];
    VAF_CHOOSE(backward, f.kind, f, units, x + i, d + i, dx + i, at, own)
    for (int s = 0; s < vaf_sums(f.k); s++) sums[s] += total(own[s]);
  });
}

// Loads the parameters of the vector of columns at i.
inline void columns_at(const Function& f, int i, int m, Unit* units) {
  for (int j = 0; j < f.k; j++) {
    const int64_t at = j * f.stride + i;
    units[j] = {get(f.alpha + at, m), get(f.alpha_bias + at, m), get(f.beta + at, m)};
  }
}

void column_forward(const Function& f, const float* x, float* y, int n, int rows,
                    int64_t width) {
  Unit units[VAF_MOST_UNITS];
  for (int i = 0; i < n; i += LANES) {
    const int m = n - i < LANES ? n - i : LANES;
    columns_at(f, i, m, units);
    const Place at = {rows, m, width};
    VAF_CHOOSE(forward, f.kind, f, units, get(f.beta_bias + i, m), x + i, y + i, at)
  }
}

void column_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                     int rows, int64_t width, double* sums, int64_t apart) {
  Unit units[VAF_MOST_UNITS];
  V own[vaf_sums(VAF_MOST_UNITS)];
  for (int i = 0; i < n; i += LANES) {
    const int m = n - i < LANES ? n - i : LANES;
    columns_at(f, i, m, units);
    const Place at = {rows, m, width};
    VAF_CHOOSE(backward, f.kind, f, units, x + i, d + i, dx + i, at, own)
    for (int s = 0; s < vaf_sums(f.k); s++)
      for (int lane = 0; lane < m; lane++) sums[s * apart + i + lane] += own[s][lane];
  }
}

void widen(int type, const uint16_t* from, float* to, int n) {
  if (type == VAF_BFLOAT16)
    for (int i = 0; i < n; i++) to[i] = from_bfloat16(from[i]);
  else
    for (int i = 0; i < n; i++) to[i] = from_float16(from[i]);
}
void narrow(int type, const float* from, uint16_t* to, int n) {
  if (type == VAF_BFLOAT16)
    for (int i = 0; i < n; i++) to[i] = to_bfloat16(from[i]);
  else
    for (int i = 0; i < n; i++) to[i] = to_float16(from[i]);
}

#ifdef __AVX512F__
const bool takes_lines = true;
#else
const bool takes_lines = false;
#endif

}  // namespace

extern const VafParts PARTS = {widen,          narrow,          row_forward, row_backward,
                               column_forward, column_backward, takes_lines};
