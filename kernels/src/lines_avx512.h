// Leaky relu units as lines between knots: a search in registers, nearly as fast for
// fifteen hidden units as for three.
#pragma once
#include <immintrin.h>

#include "parts.h"

namespace {

// How many knots are below x: a binary search among 16, of which the last are infinite.
inline __m512i segment(__m512 x, __m512 knots, int k) {
  auto step = [&](__m512i at, int offset) {
    __m512i place = _mm512_add_epi32(at, _mm512_set1_epi32(offset - 1));
    __mmask16 above = _mm512_cmp_ps_mask(x, _mm512_permutexvar_ps(place, knots), _CMP_GT_OQ);
    return _mm512_mask_add_epi32(at, above, at, _mm512_set1_epi32(offset));
  };
  __m512i at = _mm512_setzero_si512();
  if (k > 7) at = step(at, 8);
  if (k > 3) at = step(at, 4);
  return step(step(at, 2), 1);
}

template <class Body>
inline void each_sixteen(int n, Body body) {
  int i = 0;
  for (; i + 16 <= n; i += 16) body(i, (__mmask16)0xffff);
  if (i < n) body(i, (__mmask16)((1u << (n - i)) - 1));
}

void lines_forward(const Function& f, const float* x, float* y, int n) {
  const Lines& lines = *f.lines;
  const __m512 knots = _mm512_loadu_ps(lines.knot), slopes = _mm512_loadu_ps(lines.slope);
  const __m512 offsets = _mm512_loadu_ps(lines.offset);
  each_sixteen(n, [&](int i, __mmask16 m) {
    __m512 v = _mm512_maskz_loadu_ps(m, x + i);
    __m512i s = segment(v, knots, f.k);
    __m512 slope = _mm512_permutexvar_ps(s, slopes), offset = _mm512_permutexvar_ps(s, offsets);
    _mm512_mask_storeu_ps(y + i, m, _mm512_fmadd_ps(slope, v, offset));
  });
}

// Sums of d and of d x over the elements above each of G knots, or over the others where
// the unit falls. Their difference from the sum of all would be less accurate.
template <int G>
void sums_active(const float* x, const float* d, int n, const float* knot,
                 const bool* falls, double* sums) {
  __m512 t[G], s0[G], s1[G];
  __mmask16 flip[G];
  for (int j = 0; j < G; j++) {
    t[j] = _mm512_set1_ps(knot[j]), s0[j] = s1[j] = _mm512_setzero_ps();
    flip[j] = falls[j] ? 0xffff : 0;
  }
  each_sixteen(n, [&](int i, __mmask16 m) {
    __m512 v = _mm512_maskz_loadu_ps(m, x + i), e = _mm512_maskz_loadu_ps(m, d + i);
#pragma GCC unroll 8
    for (int j = 0; j < G; j++) {
      __mmask16 on = _mm512_cmp_ps_mask(v, t[j], _CMP_GT_OQ) ^ flip[j];
      s0[j] = _mm512_mask_add_ps(s0[j], on, s0[j], e);
      s1[j] = _mm512_mask3_fmadd_ps(e, v, s1[j], on);
    }
  });
  for (int j = 0; j < G; j++) {
    sums[2 * j] = _mm512_reduce_add_ps(s0[j]);
    sums[2 * j + 1] = _mm512_reduce_add_ps(s1[j]);
  }
}

void lines_backward(const Function& f, const float* x, const float* d, float* dx, int n,
                    double* sums) {
  const Lines& lines = *f.lines;
  const __m512 knots = _mm512_loadu_ps(lines.knot), slopes = _mm512_loadu_ps(lines.slope);
  __m512 sum_d = _mm512_setzero_ps(), sum_dx = sum_d;
  each_sixteen(n, [&](int i, __mmask16 m) {
    __m512 v = _mm512_maskz_loadu_ps(m, x + i), e = _mm512_maskz_loadu_ps(m, d + i);
    sum_d = _mm512_add_ps(sum_d, e);
    sum_dx = _mm512_fmadd_ps(e, v, sum_dx);
    __m512 slope = _mm512_permutexvar_ps(segment(v, knots, f.k), slopes);
    _mm512_mask_storeu_ps(dx + i, m, _mm512_mul_ps(e, slope));
  });
  const double all = _mm512_reduce_add_ps(sum_d), all_x = _mm512_reduce_add_ps(sum_dx);
  double active[2 * 16];
  bool falls[16];
  for (int s = 0; s < f.k; s++) falls[s] = f.alpha[lines.order[s]] < 0;
  int j = 0;
  for (; j + 5 <= f.k; j += 5)
    sums_active<5>(x, d, n, lines.knot + j, falls + j, active + 2 * j);
  if (j + 3 <= f.k)
    sums_active<3>(x, d, n, lines.knot + j, falls + j, active + 2 * j), j += 3;
  for (; j < f.k; j++)
    sums_active<1>(x, d, n, lines.knot + j, falls + j, active + 2 * j);
  sums[0] += all;
  for (int s = 0; s < f.k; s++) {
    const int unit = lines.order[s];
    double on = active[2 * s], on_x = active[2 * s + 1];
    if (f.alpha[unit] == 0) {
      const bool always = f.alpha_bias[unit] > 0;
      on = always ? all : 0, on_x = always ? all_x : 0;
    }
    double* own = sums + 1 + 3 * unit;
    own[0] += f.leak * all + (1.0 - f.leak) * on;
    own[1] += f.leak * all_x + (1.0 - f.leak) * on_x;
  }
}

}  // namespace
