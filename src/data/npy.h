#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace eignn {

class AtomicFile;

enum class ElementType {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};

/// NumPy's name, such as "float64".
const char* name(ElementType type);

/// Bytes of one element.
size_t item_size(ElementType type);

/// Bytes of an array; nothing when a dimension is negative or the product leaves the range of int64.
std::optional<size_t> byte_count(ElementType type, const std::vector<int64_t>& shape);

/// The ElementType of a C++ number type.
template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) <= 8, "no long double");
    return sizeof(T) == 4 ? ElementType::float32 : ElementType::float64;
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "a number type");
    constexpr bool is_signed = std::is_signed_v<T>;
    if (sizeof(T) == 1) return is_signed ? ElementType::int8 : ElementType::uint8;
    if (sizeof(T) == 2) return is_signed ? ElementType::int16 : ElementType::uint16;
    if (sizeof(T) == 4) return is_signed ? ElementType::int32 : ElementType::uint32;
    return is_signed ? ElementType::int64 : ElementType::uint64;
  }
}

/// An array as a file holds it, with its element type known only at run time.
struct Array {
  std::vector<int64_t> shape;  ///< empty: a single number
  ElementType type = ElementType::float64;
  std::vector<unsigned char> bytes;  ///< C order, little endian
  std::string origin;                ///< where it came from, for messages: "X.npy", "graph.npz[edges]"

  /// Number of elements.
  int64_t size() const;

  /// The elements as numbers of type T: float, double, int32_t, int64_t, uint8_t or uint64_t. Floats are not
  /// converted to integers, and a number out of T's range is refused; integers become the nearest float.
  template <class T>
  std::vector<T> as() const;

  /// 1 for each element that is not zero, else 0: a mask. Floats are refused.
  std::vector<uint8_t> nonzero() const;
};

/// The array of values in C order.
template <class T>
Array array_of(const std::vector<int64_t>& shape, const std::vector<T>& values) {
  Array array;
  array.shape = shape;
  array.type = element_type_of<T>();
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  array.bytes.assign(bytes, bytes + values.size() * sizeof(T));
  return array;
}

/// What stands before the elements of a .npy file.
struct NpyHeader {
  ElementType type = ElementType::float64;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t begin = 0;  ///< of the elements, in bytes of the file
  size_t bytes = 0;  ///< of the elements
};

/// The header of a .npy file that is in memory as a whole. DataError also where the elements are not as many
/// as it says.
NpyHeader parse_npy_header(std::string_view file, const std::string& origin);

/// The header of a .npy file, version 1.0, of C-ordered, little-endian elements; at least `least` bytes long,
/// so that one that is written over another has its length.
std::string npy_header(ElementType type, const std::vector<int64_t>& shape, size_t least = 0);

/// Reads a .npy file.
Array read_npy(const std::string& path);

/// The same from memory; `origin` names the bytes in messages.
Array parse_npy(const unsigned char* data, size_t size, const std::string& origin);
Array parse_npy(std::string_view bytes, const std::string& origin);

/// Whether the first bytes are those of a .npy file.
bool is_npy(std::string_view bytes);

/// The bytes of the .npy file, version 1.0, of C-ordered, little-endian elements.
std::string npy_bytes(ElementType type, const std::vector<int64_t>& shape, const void* data);

/// Writes C-ordered, little-endian elements as .npy version 1.0 into a file that the caller commits: several
/// outputs can so appear together or not at all.
void write_npy(AtomicFile& file, ElementType type, const std::vector<int64_t>& shape, const void* data);

/// The same under a path of its own, atomically.
void write_npy(const std::string& path, ElementType type, const std::vector<int64_t>& shape,
               const void* data);

/// The same for double, float, int64_t and the other number types.
template <class T>
void write_npy(const std::string& path, const std::vector<int64_t>& shape, const std::vector<T>& values) {
  const ElementType type = element_type_of<T>();
  if (byte_count(type, shape) != values.size() * sizeof(T)) {
    throw std::invalid_argument("write_npy: the shape and the number of values differ");
  }
  write_npy(path, type, shape, values.data());
}

}  // namespace eignn
