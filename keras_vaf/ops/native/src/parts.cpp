// Compiled once for each instruction set, with -DPARTS=NAME -DLANES=N.
//
// A row and a column are the same work: a few vectors with the same vectors of parameters.
// In a row they are neighbours, and the lanes of a parameter are equal. In columns they
// belong to neighbouring rows, so that memory is read in its order.
#include "parts.h"

#include <algorithm>
#include <cstring>

#include "functions.h"
#include "numbers.h"
#include "vaf_kernels.h"
#ifdef __AVX512F__
#include "lines_avx512.h"
#endif

namespace {

// Vectors that are computed together: the parameters and sums of a hidden unit are loaded
// and stored once for all of them. Smooth functions need more registers.
template <class G>
constexpr int at_once = G::linear || LANES == 16 ? 4 : 2;

// A known number of elements makes vectors of the copies in `get` and `put`. Lanes without
// an element have parameters of 0, so that they add 0 to sums which other rows need.
#define ALWAYS_INLINE inline __attribute__((always_inline))

ALWAYS_INLINE V get(const float* p, int m) {
  if (m == LANES) return load(p);
  V v = {};
  std::memcpy(&v, p, m * sizeof(float));
  return v;
}
ALWAYS_INLINE void put(float* p, int m, V v) {
  if (m == LANES)
    store(p, v);
  else
    std::memcpy(p, &v, m * sizeof(float));
}
inline void add_to(float* sum, V v) { store(sum, load(sum) + v); }
inline double total(const float* lanes) {
#ifdef __AVX512F__
  return _mm512_reduce_add_ps(_mm512_loadu_ps(lanes));
#endif
  double sums[4] = {};
  for (int i = 0; i < LANES; i++) sums[i % 4] += lanes[i];
  return sums[0] + sums[1] + (sums[2] + sums[3]);
}

// f of R vectors of m elements, which lie `step` apart and have the same functions.
template <class G, int R>
ALWAYS_INLINE void forward(const Function& f, const float* x, float* y, int64_t step, int m) {
  const V leak = splat(f.leak), beta_bias = get(f.beta_bias, m);
  V v[R], value[R];
  for (int r = 0; r < R; r++) v[r] = get(x + r * step, m), value[r] = beta_bias;
  for (int64_t j = 0; j < f.k * f.stride; j += f.stride) {
    const V a = get(f.alpha + j, m), c = get(f.alpha_bias + j, m), b = get(f.beta + j, m);
#pragma GCC unroll 4
    for (int r = 0; r < R; r++) value[r] += b * G::value(a * v[r] + c, leak);
  }
  for (int r = 0; r < R; r++) put(y + r * step, m, value[r]);
}

// The gradients of such vectors. Adds to vaf_sums(k) vectors of sums, `stride` numbers apart.
template <class G, int R>
ALWAYS_INLINE void backward(const Function& f, const float* x, const float* d, float* dx,
                     int64_t step, int m, float* sums, int64_t stride) {
  const V leak = splat(f.leak);
  V v[R], e[R], slope[R], all = {};
  for (int r = 0; r < R; r++) {
    v[r] = get(x + r * step, m), e[r] = get(d + r * step, m), slope[r] = V{};
    all += e[r];
  }
  add_to(sums, all);
  for (int j = 0; j < f.k; j++) {
    const int64_t at = j * f.stride;
    const V a = get(f.alpha + at, m), c = get(f.alpha_bias + at, m);
    const V w = a * get(f.beta + at, m);
    Unit unit = {w, leak};
#pragma GCC unroll 4
    for (int r = 0; r < R; r++) G::add(unit, a * v[r] + c, v[r], e[r], slope[r]);
    float* unit_sums = sums + (1 + 3 * j) * stride;
    add_to(unit_sums, unit.s0), add_to(unit_sums + stride, unit.s1);
    if (!G::linear) add_to(unit_sums + 2 * stride, unit.s2);
  }
  for (int r = 0; r < R; r++) put(dx + r * step, m, e[r] * slope[r]);
}

// Every function has a case: the compiler refuses a `switch` that lacks one.
#pragma GCC diagnostic error "-Wswitch"
#define VAF_CHOOSE(name, f, ...)                                        \
  switch ((VafFunction)f.kind) {                                        \
    case VAF_TANH: return name<Tanh>(f, __VA_ARGS__);                   \
    case VAF_SIGMOID: return name<Sigmoid>(f, __VA_ARGS__);             \
    case VAF_SILU: return name<Silu>(f, __VA_ARGS__);                   \
    case VAF_GELU: return name<Gelu>(f, __VA_ARGS__);                   \
    case VAF_SIN: return name<Sin>(f, __VA_ARGS__);                     \
    case VAF_LEAKY_RELU:                                                \
      if (f.leak != 0) return name<LeakyRelu>(f, __VA_ARGS__);          \
      if (!f.finite) return name<AnyRelu>(f, __VA_ARGS__);              \
      return name<Relu>(f, __VA_ARGS__);                                \
  }

// A function whose parameters are vectors of equal lanes.
struct Splat {
  float space[vaf_sums(VAF_MOST_UNITS) * LANES];
  Function f;

  explicit Splat(const Function& g) : f(g) {
    const int size = g.k * LANES;
    f.alpha = space, f.alpha_bias = space + size, f.beta = space + 2 * size;
    f.beta_bias = space + 3 * size, f.stride = LANES;
    for (int j = 0; j < g.k; j++) {
      store(space + j * LANES, splat(g.alpha[j]));
      store(space + size + j * LANES, splat(g.alpha_bias[j]));
      store(space + 2 * size + j * LANES, splat(g.beta[j]));
    }
    store(space + 3 * size, splat(*g.beta_bias));
  }
};

template <class G>
void row_forward_of(const Function& f, const float* x, float* y, int n) {
  constexpr int R = at_once<G>;
  int i = 0;
  for (; i + R * LANES <= n; i += R * LANES) forward<G, R>(f, x + i, y + i, LANES, LANES);
  for (; i < n; i += LANES)
    forward<G, 1>(f, x + i, y + i, LANES, n - i < LANES ? n - i : LANES);
}

template <class G>
void row_backward_of(const Function& f, const float* x, const float* d, float* dx, int n,
                     float* sums) {
  constexpr int R = at_once<G>;
  int i = 0;
  for (; i + R * LANES <= n; i += R * LANES)
    backward<G, R>(f, x + i, d + i, dx + i, LANES, LANES, sums, LANES);
  for (; i < n; i += LANES)
    backward<G, 1>(f, x + i, d + i, dx + i, LANES, n - i < LANES ? n - i : LANES, sums, LANES);
}

void row_forward(const Function& f, const float* x, float* y, int n) {
#ifdef __AVX512F__
  if (f.lines && lines_forward(f, x, y, n)) return;
#endif
  const Splat vectors(f);
  VAF_CHOOSE(row_forward_of, vectors.f, x, y, n)
}

void row_sums(const Function& f, const float* x, const float* d, float* dx, int n,
              float* sums) {
  VAF_CHOOSE(row_backward_of, f, x, d, dx, n, sums)
}

void row_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                  double* sums) {
  const Splat vectors(f);
  float lanes[vaf_sums(VAF_MOST_UNITS) * LANES];
  std::fill_n(lanes, vaf_sums(f.k) * LANES, 0.0f);
  row_sums(vectors.f, x, d, dx, n, lanes);
  for (int s = 0; s < vaf_sums(f.k); s++)
    if (f.kind != VAF_LEAKY_RELU || s % 3 || !s) sums[s] += total(lanes + s * LANES);
}

inline Function columns_from(const Function& f, int i) {
  Function g = f;
  g.alpha += i, g.alpha_bias += i, g.beta += i, g.beta_bias += i;
  return g;
}

template <class G, int R>
void strip_forward(const Function& f, const float* x, float* y, int n, int64_t width) {
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    forward<G, R>(columns_from(f, i), x + i, y + i, width, LANES);
  if (i < n) forward<G, R>(columns_from(f, i), x + i, y + i, width, n - i);
}

template <class G, int R>
void strip_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                    int64_t width, float* sums, int64_t stride) {
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    backward<G, R>(columns_from(f, i), x + i, d + i, dx + i, width, LANES, sums + i, stride);
  if (i < n)
    backward<G, R>(columns_from(f, i), x + i, d + i, dx + i, width, n - i, sums + i, stride);
}

template <class G>
void column_forward_of(const Function& f, const float* x, float* y, int n, int rows,
                       int64_t width) {
  constexpr int R = at_once<G>;
  int64_t r = 0;
  for (; r + R <= rows; r += R)
    strip_forward<G, R>(f, x + r * width, y + r * width, n, width);
  for (; r < rows; r++) strip_forward<G, 1>(f, x + r * width, y + r * width, n, width);
}

template <class G>
void column_backward_of(const Function& f, const float* x, const float* d, float* dx, int n,
                        int rows, int64_t width, float* sums, int64_t stride) {
  constexpr int R = at_once<G>;
  int64_t r = 0, at = 0;
  for (; r + R <= rows; r += R, at = r * width)
    strip_backward<G, R>(f, x + at, d + at, dx + at, n, width, sums, stride);
  for (; r < rows; r++, at = r * width)
    strip_backward<G, 1>(f, x + at, d + at, dx + at, n, width, sums, stride);
}

void column_forward(const Function& f, const float* x, float* y, int n, int rows,
                    int64_t width) {
  VAF_CHOOSE(column_forward_of, f, x, y, n, rows, width)
}

void column_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                     int rows, int64_t width, float* sums, int64_t stride) {
  VAF_CHOOSE(column_backward_of, f, x, d, dx, n, rows, width, sums, stride)
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
