// The fixed functions g on vectors, each with its derivative. GCC vector types only.
//
// Errors against the exact values are below 4 units in the last place. test_kernels.py
// measures them.
#pragma once
#include <cmath>
#include <cstdint>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifndef LANES
#define LANES 4
#endif

namespace {

typedef float V __attribute__((vector_size(LANES * 4)));
typedef int32_t M __attribute__((vector_size(LANES * 4)));
typedef float Unaligned __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

inline V splat(float a) { return V{} + a; }
inline V load(const float* p) { return *(const Unaligned*)p; }
inline void store(float* p, V v) { *(Unaligned*)p = v; }
inline V absolute(V x) { return (V)((M)x & 0x7fffffff); }
inline V choose(M m, V yes, V no) { return m ? yes : no; }
inline bool any(M m) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)m, (__m512i)m);
#elif defined(__AVX__)
  return _mm256_movemask_ps((__m256)m);
#elif defined(__x86_64__)
  return _mm_movemask_ps((__m128)m);
#else
  int32_t all = 0;
  for (int i = 0; i < LANES; i++) all |= m[i];
  return all;
#endif
}

// An exponential function e = (1 + rest) first second.
struct Exponential {
  V rest, first, second;
  // s e, which is not rounded between the two factors. Subnormal results are right.
  V times(V s) const { return (s * rest + s) * first * second; }
  V value() const { return (rest + 1.0f) * first * second; }
};

// exp(high + low), for a low that is small beside high.
inline Exponential exponential(V high, V low = V{}) {
  high = choose(high < splat(-150.0f), splat(-150.0f), high);
  high = choose(high > splat(89.0f), splat(89.0f), high);
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  V n = (high * 1.44269504088896341f + magic) - magic;
  V r = (high - n * 0.693359375f) + n * 2.12194440e-4f + low;
  V p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  M whole = __builtin_convertvector(n, M), half = whole >> 1;
  return {p * (r * r) + r, (V)((half + 127) << 23), (V)((whole - half + 127) << 23)};
}

// A hidden unit in the backward pass: w = alpha beta, and its sums.
struct Unit {
  V w, leak;  // leak: slope of leaky relu below 0
  V s0 = {}, s1 = {}, s2 = {};
};

// Each function has `value(h, leak)` and `add`, which adds to the slope and the sums at
// x = v for the upstream gradient e.
struct Relu {
  static const bool linear = true;
  static V value(V h, V) { return choose(splat(0.0f) > h, splat(0.0f), h); }
  static void add(Unit& unit, V h, V v, V e, V& slope) {
    M on = h > 0.0f;
#ifdef __AVX512F__  // masks are free there
    slope = on ? slope + unit.w : slope;
    unit.s0 = on ? unit.s0 + e : unit.s0;
    unit.s1 = on ? unit.s1 + e * v : unit.s1;
#else
    V dh = (V)((M)e & on);
    slope += (V)((M)unit.w & on);
    unit.s0 += dh;
    unit.s1 += dh * v;
#endif
  }
};

// Relu whose w may be infinite or NaN: then so is 0 w, the slope of a unit that is off.
struct AnyRelu : Relu {
  static void add(Unit& unit, V h, V v, V e, V& slope) {
    V on_only = {};
    Relu::add(unit, h, v, e, on_only);
    slope += choose(h > 0.0f, unit.w, unit.w * 0.0f);
  }
};

struct LeakyRelu {
  static const bool linear = true;
  static V value(V h, V leak) { return choose(h > 0.0f, h, h * leak); }
  static void add(Unit& unit, V h, V v, V e, V& slope) {
    V dg = choose(h > 0.0f, splat(1.0f), unit.leak), dh = e * dg;
    slope += unit.w * dg;
    unit.s0 += dh;
    unit.s1 += dh * v;
  }
};

// A function with `apply(h, g, dg)`: g(h) and g'(h).
template <class G>
struct Smooth {
  static const bool linear = false;
  static V value(V h, V) {
    V g, dg;
    G::apply(h, g, dg);
    return g;
  }
  static void add(Unit& unit, V h, V v, V e, V& slope) {
    V g, dg;
    G::apply(h, g, dg);
    V dh = e * dg;
    slope += unit.w * dg;
    unit.s0 += dh;
    unit.s1 += dh * v;
    unit.s2 += e * g;
  }
};

struct Sigmoid : Smooth<Sigmoid> {
  static void apply(V h, V& g, V& dg) {
    V e = exponential(-absolute(h)).value(), q = 1.0f / (1.0f + e), other = e * q;
    g = choose(h > 0.0f, q, other);  // and 1 - g is the other of them
    dg = q * other;
  }
};

struct Silu : Smooth<Silu> {
  static void apply(V h, V& g, V& dg) {
    h = choose(h < splat(-150.0f), splat(-150.0f), h);  // g is 0 from there on
    Exponential exp = exponential(-absolute(h));
    V e = exp.value(), q = 1.0f / (1.0f + e), other = e * q, product = h * q;
    M positive = h > 0.0f;
    g = choose(positive, product, exp.times(product));
    dg = choose(positive, q, other) + g * choose(positive, other, q);
  }
};

struct Tanh : Smooth<Tanh> {
  static void apply(V h, V& g, V& dg) {
    V x = absolute(h), z = h * h, e = exponential(-2.0f * x).value();
    V q = 1.0f / (1.0f + e);
    V p = splat(-5.70498872745e-3f);
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    V large = (1.0f - e) * q;
    large = (V)((M)large | ((M)h & (int32_t)0x80000000));
    g = choose(x < 0.625f, p * z * h + h, large);
    dg = 4.0f * e * q * q;
  }
};

struct Gelu : Smooth<Gelu> {
  static void apply(V h, V& g, V& dg) {
    // h^2 / 2 in two parts, so that exp(-h^2 / 2) keeps its relative accuracy.
    V x = absolute(h);
    x = choose(x > splat(14.5f), splat(14.5f), x);  // exp(-x^2 / 2) is 0 from there on
    V top = (V)((M)x & (int32_t)0xfffff000);
    Exponential exp = exponential(-0.5f * top * top, -0.5f * (x - top) * (x + top));
    // Phi(-x) exp(x^2 / 2) for x < 1.75, a polynomial of relative error 2.2e-8.
    V y = x - 1.125f;
    V near = splat(-3.6800666e-05f);
    near = near * y + 5.6115754e-05f;
    near = near * y - 0.00021628077f;
    near = near * y + 0.0007902684f;
    near = near * y - 0.0025007532f;
    near = near * y + 0.007492548f;
    near = near * y - 0.020915011f;
    near = near * y + 0.053509567f;
    near = near * y - 0.12294448f;
    near = near * y + 0.24533139f;
    // The same times x, for larger x: an error of 3.1e-8. A product with x would round.
    V t = 1.0f / x;
    V far = splat(1.0033326f);
    far = far * t - 1.8017427f;
    far = far * t - 0.47923014f;
    far = far * t + 3.992627f;
    far = far * t - 4.5498214f;
    far = far * t + 2.2629592f;
    far = far * t - 0.14937918f;
    far = far * t - 0.38641754f;
    far = far * t - 0.0005760226f;
    far = far * t + 0.39895338f;
    M is_near = x < 1.75f;
    V below = -exp.times(choose(is_near, x * near, far));  // gelu(-x) = gelu(x) - x
    V e = exp.value(), tail = e * choose(is_near, near, far * t);  // Phi(-x)
    g = choose(h > 0.0f, h + below, below);
    dg = choose(h > 0.0f, 1.0f - tail, tail) + h * e * 0.3989422804014327f;
  }
};

struct Sin : Smooth<Sin> {
  static void apply(V h, V& g, V& dg) {
    if (any((absolute(h) > splat(8192.0f)) | (h != h))) return scalar(h, g, dg);
    const float magic = 12582912.0f;
    V n = (h * 0.6366197723675814f + magic) - magic;  // multiples of pi / 2
    V r = h - n * 1.5703125f;
    r = r - n * 4.837512969970703125e-4f;
    r = r - n * 7.549533620476723e-8f;  // products of n with these three are exact
    r = r - n * 2.5633440682570896e-12f;
    V z = r * r;
    V s = splat(-1.9515295891e-4f);
    s = s * z + 8.3321608736e-3f;
    s = s * z - 1.6666654611e-1f;
    s = s * z * r + r;
    V c = splat(2.443315711809948e-5f);
    c = c * z - 1.388731625493765e-3f;
    c = c * z + 4.166664568298827e-2f;
    c = c * z * z - 0.5f * z + 1.0f;
    M quadrant = __builtin_convertvector(n, M);
    M swap = (quadrant & 1) != 0;
    g = choose(swap, c, s);
    dg = choose(swap, s, c);
    g = (V)((M)g ^ ((quadrant & 2) << 30));
    dg = (V)((M)dg ^ (((quadrant + 1) & 2) << 30));
  }
  static void scalar(V h, V& g, V& dg) {
    for (int i = 0; i < LANES; i++) g[i] = std::sin(h[i]), dg[i] = std::cos(h[i]);
  }
};

}  // namespace
