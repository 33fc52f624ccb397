// The kernels as operators of TensorFlow, through its C interface.
//
// The functions of that interface are looked up in the TensorFlow of the process, so that
// no TensorFlow is needed to compile. `tf.load_op_library` loads this library, which then
// defines its operators; it defines none where TensorFlow lacks a function.
#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vaf_kernels.h"

namespace {

struct Status;
struct Tensor;
struct Context;
struct Construction;
struct OpBuilder;
struct KernelBuilder;
struct Shapes;
struct Shape;

enum { FLOAT32 = 1, BFLOAT16 = 14, FLOAT16 = 19 };
enum { INVALID_ARGUMENT = 3, RESOURCE_EXHAUSTED = 8 };

// Every function with its type and its name in TensorFlow.
#define FUNCTIONS(F)                                                                    \
  F(Status* (*)(), TF_NewStatus)                                                        \
  F(void (*)(Status*), TF_DeleteStatus)                                                 \
  F(int (*)(const Status*), TF_GetCode)                                                 \
  F(void (*)(Status*, int, const char*), TF_SetStatus)                                  \
  F(OpBuilder* (*)(const char*), TF_NewOpDefinitionBuilder)                             \
  F(void (*)(OpBuilder*, const char*), TF_OpDefinitionBuilderAddAttr)                   \
  F(void (*)(OpBuilder*, const char*), TF_OpDefinitionBuilderAddInput)                  \
  F(void (*)(OpBuilder*, const char*), TF_OpDefinitionBuilderAddOutput)                 \
  F(void (*)(OpBuilder*, void (*)(Shapes*, Status*)),                                   \
    TF_OpDefinitionBuilderSetShapeInferenceFunction)                                    \
  F(void (*)(OpBuilder*, Status*), TF_RegisterOpDefinition)                             \
  F(KernelBuilder* (*)(const char*, const char*, void* (*)(Construction*),              \
                       void (*)(void*, Context*), void (*)(void*)),                     \
    TF_NewKernelBuilder)                                                                \
  F(void (*)(const char*, KernelBuilder*, Status*), TF_RegisterKernelBuilder)           \
  F(void (*)(Construction*, const char*, int64_t*, int, Status*),                       \
    TF_OpKernelConstruction_GetAttrInt64List)                                           \
  F(void (*)(Construction*, const char*, float*, Status*),                              \
    TF_OpKernelConstruction_GetAttrFloat)                                               \
  F(void (*)(Construction*, Status*), TF_OpKernelConstruction_Failure)                  \
  F(void (*)(Context*, Status*), TF_OpKernelContext_Failure)                            \
  F(void (*)(Context*, int, Tensor**, Status*), TF_GetInput)                            \
  F(Tensor* (*)(Context*, int, int, const int64_t*, int, size_t, Status*),              \
    TF_AllocateOutput)                                                                  \
  F(int (*)(const Tensor*), TF_TensorType)                                              \
  F(int (*)(const Tensor*), TF_NumDims)                                                 \
  F(int64_t (*)(const Tensor*, int), TF_Dim)                                            \
  F(size_t (*)(const Tensor*), TF_TensorByteSize)                                       \
  F(void* (*)(const Tensor*), TF_TensorData)                                            \
  F(void (*)(Tensor*), TF_DeleteTensor)                                                 \
  F(Shape* (*)(), TF_NewShapeHandle)                                                    \
  F(void (*)(Shape*), TF_DeleteShapeHandle)                                             \
  F(void (*)(Shapes*, int, Shape*, Status*), TF_ShapeInferenceContextGetInput)          \
  F(void (*)(Shapes*, int, Shape*, Status*), TF_ShapeInferenceContextSetOutput)

template <class T>
using Same = T;
#define DECLARE(type, name) Same<type> name = nullptr;
FUNCTIONS(DECLARE)
#undef DECLARE

bool find_functions() {
  void* library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return false;
  bool found = true;
#define FIND(type, name) \
  name = (Same<type>)dlsym(library, #name), found = found && name;
  FUNCTIONS(FIND)
#undef FIND
  return found;
}

enum { INPUTS = 6, OUTPUTS = 5, MOST_AXES = 32 };

// What an operator knows before its tensors: function, k, first unshared axis, number of
// unshared axes; and the slope of leaky relu.
struct Operator {
  int64_t all[4];
  float slope;
};

void* create(Construction* construction) {
  Operator* made = new Operator{};
  Status* status = TF_NewStatus();
  TF_OpKernelConstruction_GetAttrInt64List(construction, "case", made->all, 4, status);
  if (!TF_GetCode(status))
    TF_OpKernelConstruction_GetAttrFloat(construction, "slope", &made->slope, status);
  if (TF_GetCode(status)) TF_OpKernelConstruction_Failure(construction, status);
  TF_DeleteStatus(status);
  return made;
}
void destroy(void* made) { delete (Operator*)made; }

int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}
std::atomic<int> threads{processors()};

int64_t product(const Tensor* x, int begin, int end) {
  int64_t all = 1;
  for (int i = begin; i < end; i++) all *= TF_Dim(x, i);
  return all;
}

// The tensors of a call, which are given back at its end.
struct Tensors {
  Tensor* in[INPUTS] = {};
  Tensor* out[OUTPUTS] = {};
  ~Tensors() {
    for (Tensor* tensor : in)
      if (tensor) TF_DeleteTensor(tensor);
    for (Tensor* tensor : out)
      if (tensor) TF_DeleteTensor(tensor);
  }
};

// Takes `inputs` tensors, and makes `outputs` tensors like those from `like` on.
bool take(Context* context, Tensors& t, int inputs, int outputs, int like, Status* status) {
  for (int i = 0; i < inputs; i++) {
    TF_GetInput(context, i, &t.in[i], status);
    if (TF_GetCode(status)) return false;
  }
  for (int i = 0; i < outputs; i++) {
    const Tensor* shape = t.in[i + like];
    int64_t sizes[MOST_AXES];
    const int axes = TF_NumDims(shape);
    if (axes > MOST_AXES) {
      TF_SetStatus(status, INVALID_ARGUMENT, "keras-vaf kernels: too many axes");
      return false;
    }
    for (int axis = 0; axis < axes; axis++) sizes[axis] = TF_Dim(shape, axis);
    t.out[i] = TF_AllocateOutput(context, i, TF_TensorType(shape), sizes, axes,
                                 TF_TensorByteSize(shape), status);
    if (TF_GetCode(status)) return false;
  }
  return true;
}

// The memory of an array, whose size is entered.
void* enter(VafCall& call, VafArray array, const Tensor* tensor) {
  call.bytes[array] = (int64_t)TF_TensorByteSize(tensor);
  return TF_TensorData(tensor);
}

// Fills in a call; returns false if the operator's attributes fit no tensor of this rank.
bool prepare(const Operator& operation, const Tensors& t, bool backward, VafCall& call) {
  Tensor* const* in = t.in + backward;
  const int type = TF_TensorType(in[0]), axes = TF_NumDims(in[0]);
  const int64_t first = operation.all[2], unshared = operation.all[3];
  if (first < 0 || unshared < 0 || first > axes || unshared > axes - first) return false;
  const int end = (int)(first + unshared);
  call.function = (int32_t)operation.all[0], call.k = (int32_t)operation.all[1];
  if (call.function != operation.all[0] || call.k != operation.all[1]) return false;
  call.slope = operation.slope;
  call.type = type == FLOAT32 ? VAF_FLOAT32 : type == BFLOAT16 ? VAF_BFLOAT16 : VAF_FLOAT16;
  call.networks = 1;
  call.outer = product(in[0], 0, (int)first), call.units = product(in[0], (int)first, end);
  call.inner = product(in[0], end, axes);
  call.x = enter(call, VAF_X, in[0]), call.out = enter(call, VAF_OUT, t.out[0]);
  call.alpha = (float*)enter(call, VAF_ALPHA, in[1]);
  call.alpha_bias = (float*)enter(call, VAF_ALPHA_BIAS, in[2]);
  call.beta = (float*)enter(call, VAF_BETA, in[3]);
  call.beta_bias = (float*)enter(call, VAF_BETA_BIAS, in[4]);
  if (!backward) return true;
  call.d = enter(call, VAF_D, t.in[0]);
  call.d_alpha = (float*)enter(call, VAF_D_ALPHA, t.out[1]);
  call.d_alpha_bias = (float*)enter(call, VAF_D_ALPHA_BIAS, t.out[2]);
  call.d_beta = (float*)enter(call, VAF_D_BETA, t.out[3]);
  call.d_beta_bias = (float*)enter(call, VAF_D_BETA_BIAS, t.out[4]);
  return true;
}

void run(const Operator& operation, Context* context, bool backward, Status* status) {
  Tensors t;
  if (!(backward ? take(context, t, 6, 5, 1, status) : take(context, t, 5, 1, 0, status))) return;
  VafCall call = {};
  int failed = VAF_NOT_TAKEN;
  if (prepare(operation, t, backward, call))
    failed = backward ? vaf_backward(&call, threads) : vaf_forward(&call, threads);
  if (failed)
    TF_SetStatus(status, failed == VAF_NO_MEMORY ? RESOURCE_EXHAUSTED : INVALID_ARGUMENT,
                 vaf_message(failed));
}

void compute(void* operation, Context* context, bool backward) {
  Status* status = TF_NewStatus();
  run(*(const Operator*)operation, context, backward, status);
  if (TF_GetCode(status)) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}
void forward(void* operation, Context* context) { compute(operation, context, false); }
void backward(void* operation, Context* context) { compute(operation, context, true); }

void like_inputs(Shapes* shapes, int first, int outputs, Status* status) {
  for (int i = 0; i < outputs; i++) {
    Shape* shape = TF_NewShapeHandle();
    TF_ShapeInferenceContextGetInput(shapes, first + i, shape, status);
    TF_ShapeInferenceContextSetOutput(shapes, i, shape, status);
    TF_DeleteShapeHandle(shape);
  }
}
void forward_shapes(Shapes* shapes, Status* status) { like_inputs(shapes, 0, 1, status); }
void backward_shapes(Shapes* shapes, Status* status) { like_inputs(shapes, 1, 5, status); }

void define(const char* name, bool backward, void (*infer)(Shapes*, Status*),
            void (*run)(void*, Context*)) {
  OpBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, bfloat16, half}");
  TF_OpDefinitionBuilderAddAttr(op, "case: list(int)");
  TF_OpDefinitionBuilderAddAttr(op, "slope: float");
  if (backward) TF_OpDefinitionBuilderAddInput(op, "upstream: T");
  const char* inputs[] = {"x: T", "alpha: float", "alpha_bias: float", "beta: float",
                          "beta_bias: float"};
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(op, input);
  const char* outputs[] = {"y: T", "d_alpha: float", "d_alpha_bias: float",
                           "d_beta: float", "d_beta_bias: float"};
  for (int i = 0; i < (backward ? OUTPUTS : 1); i++)
    TF_OpDefinitionBuilderAddOutput(op, outputs[i]);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer);
  Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(op, status);
  if (!TF_GetCode(status)) {
    KernelBuilder* kernel = TF_NewKernelBuilder(name, "CPU", create, run, destroy);
    TF_RegisterKernelBuilder(name, kernel, status);
  }
  TF_DeleteStatus(status);
}

__attribute__((constructor)) void define_all() {
  if (!find_functions()) return;
  define("KerasVafForward", false, forward_shapes, forward);
  define("KerasVafBackward", true, backward_shapes, backward);
}

}  // namespace

// Sets the number of threads of all operators, which is that of the processors at first.
extern "C" VAF_PUBLIC void vaf_tensorflow_threads(int number) { threads = number; }
