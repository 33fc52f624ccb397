// Variable activation functions on arrays, and their gradients: a plain C interface.
//
//   f_u(x) = sum_{j<k} beta[u,j] * g(alpha[u,j] * x + alpha_bias[u,j]) + beta_bias[u]
//
// The input is an array of shape (networks, outer, units, inner), contiguous. Element
// (n, o, u, i) belongs to function u of network n. A function that a layer shares has
// units = 1; channels last have inner = 1; channels first have inner = height * width.
// Parameters are four arrays, or one of shape (networks, units, 3 k + 1), which is packed.
#pragma once
#include <cstdint>

#define VAF_PUBLIC __attribute__((visibility("default")))

extern "C" {

enum { VAF_MOST_UNITS = 64 };  // most hidden units that are taken
// The fixed function g. Saved programs hold the numbers, so none of them ever changes.
enum VafFunction : int32_t { VAF_LEAKY_RELU = 0, VAF_TANH, VAF_SIGMOID, VAF_SILU, VAF_GELU, VAF_SIN };
enum VafType { VAF_FLOAT32 = 0, VAF_BFLOAT16, VAF_FLOAT16 };

// The arrays of a call, in the order of `bytes`.
enum VafArray {
  VAF_X = 0, VAF_D, VAF_OUT, VAF_ALPHA, VAF_ALPHA_BIAS, VAF_BETA, VAF_BETA_BIAS,
  VAF_D_ALPHA, VAF_D_ALPHA_BIAS, VAF_D_BETA, VAF_D_BETA_BIAS, VAF_ARRAYS
};

typedef struct {
  int32_t function;        // VafFunction; relu is VAF_LEAKY_RELU with slope 0
  int32_t type;            // VafType of x, d and out
  float slope;             // slope of leaky relu below 0
  int32_t k;               // hidden units
  int64_t networks, outer, units, inner;
  int64_t packed;          // 1: `alpha` and `d_alpha` hold all parameters; else 0
  const void* x;           // input
  const void* d;           // backward: gradient of the loss with respect to f(x)
  void* out;               // forward: f(x); backward: gradient of the input
  const float *alpha, *alpha_bias, *beta;              // (networks, units, k)
  const float* beta_bias;                              // (networks, units)
  float *d_alpha, *d_alpha_bias, *d_beta, *d_beta_bias; // backward: gradients
  int64_t bytes[VAF_ARRAYS];  // size of each array; a forward call ignores those of gradients
} VafCall;

// Interface version; the Python side refuses another one.
VAF_PUBLIC int vaf_interface(void);
// Name of a `VafFunction`, or null for a number that the library does not know.
VAF_PUBLIC const char* vaf_function(int number);
// Highest x86-64 level in use: 2, 3 or 4; 0 on other processors. `vaf_use_level` sets it
// for tests, and returns whether the processor has it.
VAF_PUBLIC int vaf_level(void);
VAF_PUBLIC int vaf_use_level(int level);
// Number of calls until now, which shows that the kernels are in use.
VAF_PUBLIC int64_t vaf_calls(void);

// Has the two functions below run on the threads of OpenMP: the address of its function
// `GOMP_parallel`.
VAF_PUBLIC void vaf_use_openmp(void* parallel);

// Both return 0, or why they did nothing: `VAF_NOT_TAKEN` for a call outside of
// `VafFunction`, `VafType` or `VAF_MOST_UNITS`, and `VAF_WRONG_SIZE` if an array is null or
// has other bytes than the sizes of the call demand.
enum { VAF_NOT_TAKEN = 1, VAF_NO_MEMORY = 2, VAF_WRONG_SIZE = 3 };
VAF_PUBLIC int vaf_forward(const VafCall* call, int threads);
VAF_PUBLIC int vaf_backward(const VafCall* call, int threads);
// What a value that they return means, as a sentence.
VAF_PUBLIC const char* vaf_message(int returned);
}

// Runs body(argument, task, thread) for every task; thread < the number of threads.
typedef void (*VafBody)(void* argument, int64_t task, int thread);
struct VafRunner {
  int threads;
  void* pool;
  void (*run)(void* pool, int threads, int64_t tasks, VafBody body, void* argument);
};
VAF_PUBLIC int vaf_forward_on(const VafCall* call, const VafRunner& runner);
VAF_PUBLIC int vaf_backward_on(const VafCall* call, const VafRunner& runner);
