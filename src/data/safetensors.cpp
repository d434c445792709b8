// The public safetensors format:
//
//   bytes 0-7   length of the header, little endian
//   header      JSON, starting with { and padded with blanks to a multiple of 8, or of more where the data
//               shall be aligned:
//               {"__metadata__": {"key": "text"},
//                "F": {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 32]}}
//   data        the tensors, C order, little endian; offsets count from here
//
// Sorted by offset, the tensors cover the data without holes or overlap. `head -c 300 file | tail -c +9`
// shows the header.
#include "data/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "graph/content_hash.h"

namespace eignn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t length_bytes = 8;
constexpr size_t longest_header = 100'000'000;  // the public reader's limit
constexpr const char* metadata_key = "__metadata__";

struct DtypeRow {
  ElementType type;
  const char* dtype;
};

// In the order of the public writer. Tensors are written by type from the last row to the first, wide types
// in front, so that each tensor is aligned.
constexpr DtypeRow dtype_rows[] = {
    {ElementType::boolean, "BOOL"}, {ElementType::uint8, "U8"},    {ElementType::int8, "I8"},
    {ElementType::int16, "I16"},    {ElementType::uint16, "U16"},  {ElementType::int32, "I32"},
    {ElementType::uint32, "U32"},   {ElementType::float32, "F32"}, {ElementType::float64, "F64"},
    {ElementType::int64, "I64"},    {ElementType::uint64, "U64"},
};

const DtypeRow* row_of(ElementType type) {
  return std::find_if(std::begin(dtype_rows), std::end(dtype_rows),
                      [&](const DtypeRow& row) { return row.type == type; });
}

[[noreturn]] void corrupted(const std::string& what, const std::string& path) {
  refuse("corrupted safetensors file: " + what, path, "copy it again or write it anew");
}

// Also refuses what the parser accepts: duplicate keys, and nesting deeper than the format has.
json parse_header(std::string_view text, const std::string& path) {
  constexpr int deepest = 2;  // a number in a shape: header, tensor, shape
  std::vector<std::set<std::string>> keys;
  const json::parser_callback_t check = [&](int depth, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth > deepest) corrupted("the header is nested too deeply", path);
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
      corrupted("the key " + quote(value.get<std::string>()) + " comes twice", path);
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception&) {
    corrupted("the header is not JSON", path);
  }
}

std::string_view header_text(std::string_view file, const std::string& path) {
  if (file.size() < length_bytes) corrupted("it ends inside the length of its header", path);
  uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  if (length > longest_header) corrupted(fmt::format("a header of {} bytes is over the limit", length), path);
  if (length > file.size() - length_bytes) {
    corrupted(fmt::format("the header should have {} bytes, the file ends after {}", length,
                          file.size() - length_bytes),
              path);
  }
  const std::string_view text = file.substr(length_bytes, length);
  if (text.empty() || text.front() != '{') corrupted("the header does not start with {", path);
  return text;
}

std::map<std::string, std::string> parse_metadata(const json& object, const std::string& path) {
  if (!object.is_object()) corrupted("__metadata__ is not an object", path);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) corrupted("the metadata " + quote(key) + " is not a string", path);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

struct Entry {
  std::string tensor;
  ElementType type = ElementType::float64;
  std::vector<int64_t> shape;
  size_t begin = 0;
  size_t end = 0;
};

// A tensor of a file, for messages.
struct Place {
  const std::string& tensor;
  const std::string& path;

  [[noreturn]] void fail(const std::string& what) const {
    corrupted("the tensor " + quote(tensor) + " " + what, path);
  }
};

const json& field(const json& fields, const char* key, const Place& place) {
  const auto found = fields.find(key);
  if (found == fields.end()) place.fail(std::string("has no ") + key);
  return *found;
}

ElementType parse_dtype(const json& value, const Place& place) {
  const std::string dtype = value.is_string() ? value.get<std::string>() : value.dump();
  const auto* found = std::find_if(std::begin(dtype_rows), std::end(dtype_rows),
                                   [&](const DtypeRow& row) { return dtype == row.dtype; });
  if (found != std::end(dtype_rows)) return found->type;
  refuse(fmt::format("the tensor {} has the unknown dtype {}", quote(place.tensor), quote(dtype)), place.path,
         "convert it to F32 or F64, or copy the file again if it is corrupted");
}

std::vector<int64_t> whole_numbers(const json& fields, const char* key, const Place& place) {
  const json& list = field(fields, key, place);
  if (!list.is_array()) place.fail(std::string("needs a list as ") + key);
  std::vector<int64_t> result;
  for (const json& number : list) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
      place.fail(std::string("needs whole numbers >= 0 in ") + key);
    }
    result.push_back(number.get<int64_t>());
  }
  return result;
}

// Checks one tensor by itself; check_coverage() checks its position among the others.
Entry parse_entry(const json& fields, const Place& place) {
  if (!fields.is_object()) place.fail("is not described by an object");
  Entry entry;
  entry.tensor = place.tensor;
  entry.type = parse_dtype(field(fields, "dtype", place), place);
  entry.shape = whole_numbers(fields, "shape", place);
  const std::vector<int64_t> offsets = whole_numbers(fields, "data_offsets", place);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) place.fail("needs data_offsets [begin, end]");
  entry.begin = static_cast<size_t>(offsets[0]);
  entry.end = static_cast<size_t>(offsets[1]);
  const std::optional<size_t> size = byte_count(entry.type, entry.shape);
  if (!size) place.fail("has a shape whose product is too large");
  if (*size != entry.end - entry.begin) {
    place.fail(fmt::format("needs {} bytes and has {}", *size, entry.end - entry.begin));
  }
  return entry;
}

void check_coverage(std::vector<Entry>* entries, size_t data_size, const std::string& path) {
  std::sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  size_t covered = 0;
  for (const Entry& entry : *entries) {
    const Place place{entry.tensor, path};
    if (entry.begin < covered) place.fail("overlaps another");
    if (entry.begin > covered) place.fail(fmt::format("leaves a hole before it, at data byte {}", covered));
    if (entry.end > data_size) place.fail("ends after the end of the file");
    covered = entry.end;
  }
  if (covered < data_size) {
    corrupted(fmt::format("{} bytes follow the last tensor", data_size - covered), path);
  }
}

using NamedTensor = std::pair<const std::string, TensorView>;

std::vector<const NamedTensor*> in_file_order(const SafeTensorsView& content) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : content.tensors) {
    if (byte_count(tensor.second.type, tensor.second.shape) != tensor.second.size) {
      throw std::invalid_argument("write_safetensors: shape and bytes differ in " + tensor.first);
    }
    if (tensor.first == metadata_key) {
      throw std::invalid_argument("write_safetensors: __metadata__ is no tensor name");
    }
    order.push_back(&tensor);
  }
  // The map is sorted by name, and a stable sort keeps that order within a type.
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return row_of(a->second.type) > row_of(b->second.type);
  });
  return order;
}

std::string header_for(const std::vector<const NamedTensor*>& order,
                       const std::map<std::string, std::string>& metadata, size_t alignment,
                       const std::string& path) {
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  size_t offset = 0;
  for (const NamedTensor* tensor : order) {
    const size_t end = offset + tensor->second.size;
    header[tensor->first] = {{"dtype", row_of(tensor->second.type)->dtype},
                             {"shape", tensor->second.shape},
                             {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    std::string text = header.dump();
    text.append((alignment - (length_bytes + text.size()) % alignment) % alignment, ' ');
    return text;
  } catch (const json::exception&) {
    refuse("a tensor name or a metadata text is not UTF-8", path, "use UTF-8 names");
  }
}

}  // namespace

SafeTensors read_safetensors(const std::string& path) {
  return parse_safetensors(read_whole_file(path), path);
}

SafeTensors parse_safetensors(std::string_view file, const std::string& origin) {
  SafeTensorsView view = view_safetensors(file, origin);
  SafeTensors content;
  content.metadata = std::move(view.metadata);
  for (const auto& [name, tensor] : view.tensors) {
    content.tensors[name] = {tensor.type, tensor.shape, {tensor.data, tensor.data + tensor.size}};
  }
  return content;
}

SafeTensorsView view_safetensors(std::string_view file, const std::string& origin) {
  const std::string_view text = header_text(file, origin);
  const std::string_view data = file.substr(length_bytes + text.size());
  const json header = parse_header(text, origin);

  SafeTensorsView content;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.get_ref<const json::object_t&>()) {
    if (key == metadata_key) {
      content.metadata = parse_metadata(value, origin);
    } else {
      entries.push_back(parse_entry(value, {key, origin}));
    }
  }
  check_coverage(&entries, data.size(), origin);
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  for (const Entry& entry : entries) {
    content.tensors[entry.tensor] = {entry.type, entry.shape, bytes + entry.begin, entry.end - entry.begin};
  }
  return content;
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  SafeTensorsView view;
  view.metadata = content.metadata;
  for (const auto& [name, tensor] : content.tensors) {
    view.tensors[name] = {tensor.type, tensor.shape, tensor.bytes.data(), tensor.bytes.size()};
  }
  write_safetensors(path, view);
}

void write_safetensors(const std::string& path, const SafeTensorsView& content, size_t alignment) {
  const std::vector<const NamedTensor*> order = in_file_order(content);
  const std::string header = header_for(order, content.metadata, alignment, path);
  const uint64_t length = header.size();
  AtomicFile file(path);
  file.write(&length, length_bytes);
  file.write(header.data(), header.size());
  for (const NamedTensor* tensor : order) {
    file.write(tensor->second.data, tensor->second.size);
  }
  file.commit();
}

namespace {

constexpr const char* digest_key = "digest";

std::string digest_of(const SafeTensors& content) {
  ContentHash hash;
  const auto add_text = [&](const std::string& text) { hash.add(text.data(), text.size()); };
  for (const auto& [key, text] : content.metadata) {
    if (key == digest_key) continue;
    add_text(key);
    add_text(text);
  }
  for (const auto& [name, tensor] : content.tensors) {
    add_text(name);
    add_text(row_of(tensor.type)->dtype);
    hash.add(tensor.shape);
    hash.add(tensor.bytes);
  }
  return hash.hex();
}

}  // namespace

void seal(SafeTensors& content) {
  content.metadata[digest_key] = digest_of(content);
}

void check_seal(const SafeTensors& content, const std::string& path, bool required) {
  const auto digest = content.metadata.find(digest_key);
  if (digest == content.metadata.end()) {
    if (required) corrupted("it has no digest of its content", path);
    return;
  }
  if (digest->second != digest_of(content)) corrupted("its content is not what was written", path);
}

}  // namespace eignn
