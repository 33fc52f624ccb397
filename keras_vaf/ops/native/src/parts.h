// What is compiled once for each instruction set: values and sums of one block, in float.
#pragma once
#include <cstdint>
#include <cstring>

// Elements of a block of a row; columns of a tile; rows whose sums are formed in float.
enum { VAF_BLOCK = 4096, VAF_COLUMNS = 512, VAF_ROWS = 256 };
enum { VAF_LINES = 15 };  // most hidden units that `Lines` takes

// The sums behind the gradients of one function: the sum of d, then for each hidden unit
// three: of d g'(h), of d x g'(h) and of d g(h).
constexpr int vaf_sums(int k) { return 3 * k + 1; }

// A sum of leaky relu units as k + 1 straight lines between sorted knots.
struct Lines {
  bool usable;  // all numbers are finite
  float knot[16], slope[16], offset[16];  // line s holds where s knots are below x
  int order[16];                          // hidden unit of each knot
};

struct Function {
  int kind, k;
  float leak;  // slope of leaky relu below 0
  const float *alpha, *alpha_bias, *beta, *beta_bias;
  int64_t stride;      // columns: parameters are of shape (k, stride)
  const Lines* lines;  // rows of leaky relu: may be null
  bool finite;         // the parameters are finite, and alpha beta is
};

// Whether `columns` functions have parameters for `Function::finite`.
inline bool finite(const Function& f, int64_t columns = 1) {
  uint32_t found = 0;
  for (int64_t at = 0; at < f.k * f.stride; at += f.stride)
    for (int64_t i = at; i < at + columns; i++) {
      const float one = f.alpha[i] * f.beta[i] + f.alpha_bias[i];
      uint32_t bits;
      std::memcpy(&bits, &one, 4);
      found |= (bits & 0x7f800000) == 0x7f800000;
    }
  return !found;
}

struct VafParts {
  // Numbers of two bytes of a `VafType` from and to floats.
  void (*widen)(int type, const uint16_t* from, float* to, int n);
  void (*narrow)(int type, const float* from, uint16_t* to, int n);
  // One function on n <= VAF_BLOCK contiguous elements; adds to vaf_sums(k) doubles.
  void (*row_forward)(const Function& f, const float* x, float* y, int n);
  void (*row_backward)(const Function& f, const float* x, const float* d, float* dx,
                       int n, double* sums);
  // A function for each of n columns of at most VAF_ROWS rows, which are `width` elements
  // apart. Parameters and sums can be read and written up to a multiple of 16 columns.
  // Adds to floats of shape (vaf_sums(k), stride).
  void (*column_forward)(const Function& f, const float* x, float* y, int n, int rows,
                         int64_t width);
  void (*column_backward)(const Function& f, const float* x, const float* d, float* dx,
                          int n, int rows, int64_t width, float* sums, int64_t stride);
  bool takes_lines;
};
const VafParts& vaf_parts();  // those of the instruction set in use

extern const VafParts vaf_parts_base;
#if defined(__x86_64__)
extern const VafParts vaf_parts_v3, vaf_parts_v4;
#endif
