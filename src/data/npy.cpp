// NumPy's .npy, versions 1.0, 2.0 and 3.0:
//
//   bytes 0-5    \x93NUMPY
//   bytes 6, 7   major and minor version
//   bytes 8...   length of the header, little endian: 2 bytes in version 1, else 4
//   header       a Python dictionary, padded with blanks, a newline at the end:
//                {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }
//   data         the elements, nothing after them
//
// descr is the byte order (< little, > big, | none), the kind (b bool, i int, u unsigned, f float), the bytes
// of one element. Fortran order and big endian are turned into C order and little endian here.
#include "data/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

#include "data/atomic_file.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays in memory are little endian");

struct TypeRow {
  const char* name;
  const char* code;  // as in descr, without the byte order
  size_t size;
};

// In the order of ElementType.
constexpr TypeRow type_rows[] = {
    {"bool", "b1", 1},   {"int8", "i1", 1},    {"uint8", "u1", 1},   {"int16", "i2", 2},
    {"uint16", "u2", 2}, {"int32", "i4", 4},   {"uint32", "u4", 4},  {"int64", "i8", 8},
    {"uint64", "u8", 8}, {"float32", "f4", 4}, {"float64", "f8", 8},
};

const TypeRow& row(ElementType type) {
  return type_rows[static_cast<size_t>(type)];
}

constexpr std::string_view magic = "\x93NUMPY";
constexpr const char* save_again = "save it again with numpy.save";

struct Refusal {
  const char* meaning;
  const char* remedy;
};

Refusal refusal_of(std::string_view descr) {
  constexpr const char* plain_numbers = "save plain numbers: .astype(np.float64)";
  const char kind = descr.size() > 1 ? descr[1] : '?';
  if (kind == 'O') return {"Python objects", plain_numbers};
  if (kind == 'U' || kind == 'S' || kind == 'a') return {"text", plain_numbers};
  if (kind == 'M' || kind == 'm') return {"dates", plain_numbers};
  if (kind == 'V') return {"structured", "save each field as an array of its own"};
  if (kind == 'c') return {"complex", "save its real part: .real"};
  if (kind == 'f') return {"a float of unusual size", "save it with .astype(np.float64)"};
  return {"unknown", plain_numbers};
}

[[noreturn]] void refuse_dtype(std::string_view descr, const Refusal& why, const std::string& origin) {
  refuse(fmt::format("dtype {} ({}) is not supported", quote(descr), why.meaning), origin, why.remedy);
}

// Reads the header's dictionary: exactly the three keys, in any order, each once.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, size_t offset, const std::string& origin)
      : text_(text), offset_(offset), origin_(origin) {}

  NpyHeader parse() {
    expect('{');
    while (peek() != '}') {
      entry();
      if (peek() != '}') expect(',');
    }
    expect('}');
    if (peek() != '\0' || at_ < text_.size()) fail("something follows the dictionary");
    if (!has_descr_) refuse("the header has no key 'descr'", origin_, save_again);
    if (!has_order_) refuse("the header has no key 'fortran_order'", origin_, save_again);
    if (!has_shape_) refuse("the header has no key 'shape'", origin_, save_again);
    return header_;
  }

 private:
  void entry() {
    const std::string_view key = string();
    expect(':');
    if (key == "descr") {
      once(&has_descr_, key);
      descr();
    } else if (key == "fortran_order") {
      once(&has_order_, key);
      header_.fortran_order = boolean();
    } else if (key == "shape") {
      once(&has_shape_, key);
      shape();
    } else {
      fail("unknown key " + quote(key));
    }
  }

  void once(bool* seen, std::string_view key) {
    if (*seen) fail("the key " + quote(key) + " comes twice");
    *seen = true;
  }

  void descr() {
    if (peek() == '[' || peek() == '(') {  // fields and sub-arrays
      const size_t end = text_.find(peek() == '[' ? ']' : ')', at_);
      refuse_dtype(text_.substr(at_, end - at_ + 1), refusal_of("|V"), origin_);
    }
    const std::string_view value = string();
    const std::string_view code = value.substr(std::min<size_t>(1, value.size()));
    const auto* found = std::find_if(std::begin(type_rows), std::end(type_rows),
                                     [&](const TypeRow& candidate) { return code == candidate.code; });
    if (found == std::end(type_rows)) refuse_dtype(value, refusal_of(value), origin_);
    const char order = value[0];
    const bool no_order = order == '|' && found->size == 1;
    if (order != '<' && order != '>' && !no_order) fail("unknown byte order in " + quote(value));
    header_.type = static_cast<ElementType>(found - std::begin(type_rows));
    header_.big_endian = order == '>';
  }

  bool boolean() {
    const char first = peek();
    const std::string_view word = first == 'T' ? "True" : "False";
    if (text_.substr(at_, word.size()) != word) fail("expected True or False");
    at_ += word.size();
    return first == 'T';
  }

  void shape() {
    expect('(');
    while (peek() != ')') {
      header_.shape.push_back(dimension());
      if (peek() != ')') expect(',');
    }
    expect(')');
  }

  int64_t dimension() {
    int64_t value = -1;
    peek();
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error == std::errc::result_out_of_range) fail("a dimension of the shape does not fit into 64 bits");
    if (error != std::errc() || value < 0) fail("expected a dimension of the shape, a whole number >= 0");
    at_ = static_cast<size_t>(stop - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 10L
    return value;
  }

  std::string_view string() {
    const char mark = peek();
    if (mark != '\'' && mark != '"') fail("expected a string");
    const size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  // The next character that is no white space; NUL at the end.
  char peek() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void expect(char c) {
    if (peek() != c) fail("expected " + quote({&c, 1}));
    ++at_;
  }

  [[noreturn]] void fail(const std::string& what) const {
    refuse("damaged header: " + what, {origin_, fmt::format("byte {}", offset_ + at_)}, save_again);
  }

  std::string_view text_;
  size_t offset_;  // of the header in the file
  const std::string& origin_;
  size_t at_ = 0;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
  NpyHeader header_;
};

// The header's text; checks everything before it.
std::string_view header_text(std::string_view file, const std::string& origin) {
  if (file.empty()) refuse("the file is empty", origin, save_again);
  if (file.substr(0, magic.size()) != magic.substr(0, file.size())) {
    refuse("not a .npy file: it does not start with \\x93NUMPY", origin, save_again);
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(file[i])); };
  if (file.size() < 8) refuse("the file ends before its version", origin, save_again);
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0) {
    refuse(fmt::format("unknown .npy version {}.{}", byte(6), byte(7)), {origin, "byte 6"},
           "save it with numpy.save, which writes version 1.0");
  }
  const size_t length_bytes = byte(6) == 1 ? 2 : 4;
  const size_t start = 8 + length_bytes;
  if (file.size() < start) refuse("the file ends before the length of its header", origin, save_again);
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > file.size() - start) {
    refuse(
        fmt::format("the header should have {} bytes, the file ends after {}", length, file.size() - start),
        origin, "the file is cut off or damaged: copy or save it again");
  }
  return file.substr(start, length);
}

void swap_byte_order(std::vector<unsigned char>* bytes, size_t item) {
  for (auto first = bytes->begin(); first != bytes->end(); first += static_cast<std::ptrdiff_t>(item)) {
    std::reverse(first, first + static_cast<std::ptrdiff_t>(item));
  }
}

// Walks the target in C order with an odometer; the source offset follows the Fortran strides.
std::vector<unsigned char> from_fortran_order(const unsigned char* source, size_t size,
                                              const NpyHeader& header) {
  const size_t item = item_size(header.type);
  const size_t rank = header.shape.size();
  std::vector<size_t> stride(rank, item);
  for (size_t k = 1; k < rank; ++k) stride[k] = stride[k - 1] * static_cast<size_t>(header.shape[k - 1]);

  std::vector<unsigned char> target(size);
  std::vector<int64_t> index(rank, 0);
  size_t offset = 0;
  for (size_t written = 0; written < size; written += item) {
    std::memcpy(&target[written], source + offset, item);
    for (size_t k = rank; k-- > 0;) {
      offset += stride[k];
      if (++index[k] < header.shape[k]) break;
      offset -= stride[k] * static_cast<size_t>(header.shape[k]);
      index[k] = 0;
    }
  }
  return target;
}

// Calls visit with a zero of the C++ type that stores `type`.
template <class Visit>
auto with_stored_type(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::boolean:
      return visit(bool{});
    case ElementType::int8:
      return visit(int8_t{});
    case ElementType::uint8:
      return visit(uint8_t{});
    case ElementType::int16:
      return visit(int16_t{});
    case ElementType::uint16:
      return visit(uint16_t{});
    case ElementType::int32:
      return visit(int32_t{});
    case ElementType::uint32:
      return visit(uint32_t{});
    case ElementType::int64:
      return visit(int64_t{});
    case ElementType::uint64:
      return visit(uint64_t{});
    case ElementType::float32:
      return visit(float{});
    case ElementType::float64:
      return visit(double{});
  }
  throw std::logic_error("unknown ElementType");
}

template <class Stored>
Stored load(const unsigned char* from) {
  if constexpr (std::is_same_v<Stored, bool>) {
    return *from != 0;  // a byte of 2 in a bool would be undefined
  } else {
    Stored value;
    std::memcpy(&value, from, sizeof(Stored));
    return value;
  }
}

template <class T, class Stored>
bool fits([[maybe_unused]] Stored value) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (!std::is_floating_point_v<Stored>) {
      return true;
    } else {
      return !std::isfinite(value) ||
             std::abs(static_cast<double>(value)) <= static_cast<double>(limits::max());
    }
  } else {
    if constexpr (std::is_signed_v<Stored>) {
      if (value < 0) {
        return std::is_signed_v<T> && static_cast<int64_t>(value) >= static_cast<int64_t>(limits::min());
      }
    }
    return static_cast<uint64_t>(value) <= static_cast<uint64_t>(limits::max());
  }
}

template <class T, class Stored>
std::vector<T> convert(const Array& array) {
  const auto count = static_cast<size_t>(array.size());
  std::vector<T> result(count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = load<Stored>(&array.bytes[i * sizeof(Stored)]);
    if (!fits<T>(value)) {
      refuse(fmt::format("element {} is {}, out of the range of {}", i, value, name(element_type_of<T>())),
             array.origin, "check the data");
    }
    result[i] = static_cast<T>(value);
  }
  return result;
}

}  // namespace

const char* name(ElementType type) {
  return row(type).name;
}

size_t item_size(ElementType type) {
  return row(type).size;
}

std::string npy_header(ElementType type, const std::vector<int64_t>& shape, size_t least) {
  const std::string dimensions = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                 item_size(type) == 1 ? '|' : '<', row(type).code, dimensions);
  constexpr size_t preamble = 10;
  text.append(63 - (preamble + text.size()) % 64, ' ');  // the data starts at a multiple of 64
  if (preamble + text.size() + 1 < least) text.append(least - preamble - text.size() - 1, ' ');
  text += '\n';
  if (text.size() > 0xffff) throw std::invalid_argument("npy: too many dimensions");
  std::string header(magic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

std::optional<size_t> byte_count(ElementType type, const std::vector<int64_t>& shape) {
  auto bytes = static_cast<int64_t>(item_size(type));
  if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; })) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return static_cast<size_t>(bytes);
}

int64_t Array::size() const {
  return static_cast<int64_t>(bytes.size() / item_size(type));
}

template <class T>
std::vector<T> Array::as() const {
  return with_stored_type(type, [this](auto stored) -> std::vector<T> {
    using Stored = decltype(stored);
    if constexpr (std::is_floating_point_v<Stored> && !std::is_floating_point_v<T>) {
      refuse(fmt::format("dtype {} where whole numbers are needed", name(type)), origin,
             "save it with .astype(np.int64)");
    } else {
      return convert<T, Stored>(*this);
    }
  });
}

template std::vector<float> Array::as() const;
template std::vector<double> Array::as() const;
template std::vector<int32_t> Array::as() const;
template std::vector<int64_t> Array::as() const;
template std::vector<uint8_t> Array::as() const;
template std::vector<uint64_t> Array::as() const;

std::vector<uint8_t> Array::nonzero() const {
  const std::vector<int64_t> values = as<int64_t>();
  std::vector<uint8_t> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](int64_t value) { return value != 0; });
  return result;
}

NpyHeader parse_npy_header(std::string_view file, const std::string& origin) {
  const std::string_view text = header_text(file, origin);
  const auto start = static_cast<size_t>(text.data() - file.data());
  NpyHeader header = HeaderParser(text, start, origin).parse();

  const std::optional<size_t> needed = byte_count(header.type, header.shape);
  if (!needed) refuse("the product of the shape is too large", origin, save_again);
  header.begin = start + text.size();
  header.bytes = *needed;
  const size_t present = file.size() - header.begin;
  if (present < *needed) {
    refuse(fmt::format("the data should have {} bytes, the file ends after {}", *needed, present), origin,
           "the file is cut off: copy or save it again");
  }
  if (present > *needed) {
    refuse(fmt::format("{} bytes follow the data", present - *needed),
           {origin, fmt::format("byte {}", header.begin + *needed)}, "save one array per file");
  }
  return header;
}

Array parse_npy(const unsigned char* data, size_t size, const std::string& origin) {
  NpyHeader header = parse_npy_header({reinterpret_cast<const char*>(data), size}, origin);
  const unsigned char* elements = data + header.begin;
  Array array;
  array.type = header.type;
  array.origin = origin;
  array.bytes = header.fortran_order && header.shape.size() > 1
                    ? from_fortran_order(elements, header.bytes, header)
                    : std::vector<unsigned char>(elements, elements + header.bytes);
  array.shape = std::move(header.shape);
  if (header.big_endian) swap_byte_order(&array.bytes, item_size(array.type));
  return array;
}

Array parse_npy(std::string_view bytes, const std::string& origin) {
  return parse_npy(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), origin);
}

bool is_npy(std::string_view bytes) {
  return bytes.substr(0, magic.size()) == magic;
}

Array read_npy(const std::string& path) {
  const std::string file = read_whole_file(path);
  return parse_npy(reinterpret_cast<const unsigned char*>(file.data()), file.size(), path);
}

std::string npy_bytes(ElementType type, const std::vector<int64_t>& shape, const void* data) {
  const std::optional<size_t> size = byte_count(type, shape);
  if (!size) throw std::invalid_argument("npy_bytes: a shape without a size");
  std::string bytes = npy_header(type, shape);
  bytes.append(static_cast<const char*>(data), *size);
  return bytes;
}

void write_npy(AtomicFile& file, ElementType type, const std::vector<int64_t>& shape, const void* data) {
  const std::optional<size_t> size = byte_count(type, shape);
  if (!size) throw std::invalid_argument("write_npy: a shape without a size");
  const std::string header = npy_header(type, shape);
  file.write(header.data(), header.size());
  file.write(data, *size);
}

void write_npy(const std::string& path, ElementType type, const std::vector<int64_t>& shape,
               const void* data) {
  AtomicFile file(path);
  write_npy(file, type, shape, data);
  file.commit();
}

}  // namespace eignn
