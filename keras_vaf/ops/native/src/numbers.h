// Numbers of two bytes, as bits. Loops over these functions become vector instructions.
#pragma once
#include <cstdint>
#include <cstring>

namespace {

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

inline float from_bfloat16(uint16_t h) { return float_of((uint32_t)h << 16); }
inline uint16_t to_bfloat16(float value) {
  const uint32_t bits = bits_of(value), nan = (bits >> 16) | 0x40;
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline float from_float16(uint16_t h) {
  const uint32_t size = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  // A product with 2^112 moves the exponent, and makes subnormal numbers normal.
  const uint32_t finite = bits_of(float_of(size) * float_of(0x77800000));
  return float_of((size >= 0x0f800000 ? size | 0x7f800000 : finite) | sign);
}
inline uint16_t to_float16(float value) {
  const uint32_t bits = bits_of(value), size = bits & 0x7fffffff;
  // Normal results: the exponent moves, and the lower bits round to even.
  const uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
  // Subnormal results: adding 0.5 leaves them in the lower bits, rounded to even.
  const uint32_t small = bits_of(float_of(size) + 0.5f) - 0x3f000000;
  const uint32_t large = size > 0x7f800000 ? 0x7e00 : 0x7c00;
  const uint32_t half = size >= 0x477ff000 ? large : size < 0x38800000 ? small : normal;
  return (uint16_t)(half | (bits >> 16 & 0x8000));
}

}  // namespace
