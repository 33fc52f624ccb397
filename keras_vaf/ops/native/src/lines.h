// Sums of leaky relu units as straight lines between sorted knots.
#pragma once
#include <algorithm>
#include <cmath>

#include "parts.h"

namespace {

// The largest float t with: alpha x + alpha_bias > 0 exactly where x > t (alpha > 0), or
// where not x > t (alpha < 0). The quotient of two floats in double decides that exactly.
inline float knot_of(float alpha, float alpha_bias) {
  if (alpha == 0) return INFINITY;
  const double exact = -(double)alpha_bias / alpha;
  float t = (float)exact;
  if (alpha > 0 ? t > exact : t >= exact) t = std::nextafter(t, -INFINITY);
  return t;
}

inline Lines lines_of(const Function& f) {
  Lines lines;
  lines.usable = f.finite;
  if (!lines.usable) return lines;  // NaN has no place among sorted knots
  float knots[16];
  for (int j = 0; j < f.k; j++) {
    lines.order[j] = j;
    knots[j] = knot_of(f.alpha[j], f.alpha_bias[j]);
  }
  std::sort(lines.order, lines.order + f.k, [&](int p, int q) { return knots[p] < knots[q]; });
  for (int s = 0; s < 16; s++) {
    lines.knot[s] = s < f.k ? knots[lines.order[s]] : INFINITY;
    double slope = 0, offset = *f.beta_bias;
    for (int i = 0; i < f.k; i++) {
      const int j = lines.order[i];
      const double a = f.alpha[j], c = f.alpha_bias[j];
      const bool on = a > 0 ? i < s : a < 0 ? i >= s : c > 0;
      const double weight = (on ? 1.0 : (double)f.leak) * f.beta[j];
      slope += a * weight;
      offset += c * weight;
    }
    lines.slope[s] = (float)slope;
    lines.offset[s] = (float)offset;
    lines.usable &= std::isfinite(lines.slope[s]) && std::isfinite(lines.offset[s]);
  }
  return lines;
}

}  // namespace
