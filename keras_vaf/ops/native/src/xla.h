// The part of XLA's interface for foreign functions (FFI) that is used here, in C.
//
// Declared here, so that no XLA is needed to compile. The members are those of version 0.1.
// Later versions append and never reorder.
#pragma once
#include <cstddef>
#include <cstdint>

namespace xla {

struct Extension {
  size_t size;
  int kind;
  Extension* next;
};
enum { METADATA = 1 };  // kind of extension: XLA asks which version a handler is made for

struct Version {
  size_t size;
  Extension* extensions;
  int major, minor;
};
enum { MAJOR = 0, MINOR = 1 };  // version of the interface that is declared here
struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
struct Context;

struct CreateError {
  size_t size;
  Extension* extensions;
  const char* message;
  int code;
};
enum { INVALID_ARGUMENT = 3, RESOURCE_EXHAUSTED = 8 };
struct Schedule {
  size_t size;
  Extension* extensions;
  Context* context;
  void (*task)(void* data);
  void* data;
};
struct CountThreads {
  size_t size;
  Extension* extensions;
  Context* context;
  int64_t* count;
};

struct Api {
  size_t size;
  Extension* extensions;
  Version version;
  void* internal;
  Error* (*create_error)(CreateError*);
  void *error_message, *destroy_error, *register_handler, *stream, *register_type;
  void *get_context, *set_state, *get_state, *allocate, *free;
  Error* (*schedule)(Schedule*);
  Error* (*count_threads)(CountThreads*);
};

enum { INT64 = 5, FLOAT16 = 10, FLOAT32 = 11, BFLOAT16 = 16 };
enum { BUFFER = 1 };  // kind of argument or result
struct Buffer {
  size_t size;
  Extension* extensions;
  int type;
  void* data;
  int64_t rank;
  int64_t* sizes;
};
struct Buffers {
  size_t size;
  Extension* extensions;
  int64_t count;
  int* kinds;
  Buffer** all;
};

struct Text {
  const char* begin;
  size_t length;
};
struct Array {
  int type;
  size_t count;
  void* data;
};
struct Scalar {
  int type;
  void* value;
};
enum { ARRAY = 1, SCALAR = 3 };  // kinds of attributes
struct Attributes {
  size_t size;
  Extension* extensions;
  int64_t count;
  int* kinds;
  Text** names;
  void** all;
};

struct Call {
  size_t size;
  Extension* extensions;
  const Api* api;
  Context* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

}  // namespace xla
