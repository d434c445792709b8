#include "data/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "data/atomic_file.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

SafeTensors parse(const std::string& bytes) {
  return parse_safetensors(bytes, "model.safetensors");
}

std::string refusal(const std::string& bytes) {
  const std::string message = message_of<DataError>([&] { parse(bytes); });
  EXPECT_CONTAINS(message, "corrupted");
  EXPECT_CONTAINS(message, "model.safetensors");
  return message;
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data) {
  return file_of("{\"a\":" + tensor(dtype, shape, offsets) + "}", data);
}

std::string two(const std::string& first, const std::string& second, const std::string& data) {
  return file_of("{\"a\":" + tensor("U8", "[2]", first) + ",\"b\":" + tensor("U8", "[2]", second) + "}",
                 data);
}

SafeTensors example() {
  SafeTensors content;
  content.tensors["F"] = {ElementType::float64, {2, 1}, std::vector<unsigned char>(16, 1)};
  content.tensors["B"] = {ElementType::float32, {3}, std::vector<unsigned char>(12, 2)};
  content.tensors["seen"] = {ElementType::boolean, {5}, std::vector<unsigned char>(5, 1)};
  content.tensors["steps"] = {ElementType::int64, {}, std::vector<unsigned char>(8, 3)};
  content.tensors["none"] = {ElementType::uint8, {0, 4}, {}};
  content.metadata = {{"gamma", "0.8"}, {"quote", "a \"b\" \xc3\xa9\n"}};
  return content;
}

std::string written(const SafeTensors& content) {
  const TemporaryFolder folder;
  write_safetensors(folder.path("m"), content);
  return read_whole_file(folder.path("m"));
}

void expect_same(const SafeTensors& left, const SafeTensors& right) {
  EXPECT_EQ(left.metadata, right.metadata);
  ASSERT_EQ(left.tensors.size(), right.tensors.size());
  for (const auto& [key, value] : left.tensors) {
    const TensorBytes& other = right.tensors.at(key);
    EXPECT_EQ(value.type, other.type) << key;
    EXPECT_EQ(value.shape, other.shape) << key;
    EXPECT_EQ(value.bytes, other.bytes) << key;
  }
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  expect_same(parse(written(example())), example());
  expect_same(parse(written({})), {});
  const TemporaryFolder folder;
  write_safetensors(folder.path("model"), example());
  expect_same(read_safetensors(folder.path("model")), example());
}

TEST(Safetensors, WritesTheBytesOfThePublicWriter) {
  SafeTensors content;
  content.tensors["b"] = {ElementType::uint8, {2}, {1, 2}};
  content.tensors["a"] = {ElementType::float32, {1, 1}, {0, 0, 128, 63}};
  content.metadata = {{"k", "v"}};
  const std::string header =
      "{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,6]}}";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(written(content), file_of(header + padding, std::string("\0\0\x80\x3f\1\2", 6)));
}

TEST(Safetensors, StartsTheDataAtAMultipleOf8) {
  SafeTensors content;
  for (int length = 1; length < 20; ++length) {
    content.metadata["k"] += 'x';
    EXPECT_EQ(written(content).size() % 8, 0U);
  }
}

TEST(Safetensors, TakesTensorsInAnyOrderOfTheHeader) {
  const SafeTensors content = parse(two("[2,4]", "[0,2]", "wxyz"));
  EXPECT_EQ(content.tensors.at("a").bytes, (std::vector<unsigned char>{'y', 'z'}));
}

TEST(Safetensors, RefusesAWrongHeaderLength) {
  EXPECT_CONTAINS(refusal(""), "inside the length");
  EXPECT_CONTAINS(refusal(std::string("\xff\0\0\0\0\0\0\0{}", 10)), "255 bytes, the file ends after 2");
  EXPECT_CONTAINS(refusal(std::string("\0\0\0\x10\0\0\0\0{}", 10)), "over the limit");
  EXPECT_CONTAINS(refusal(std::string(8, '\xff')), "over the limit");
  EXPECT_CONTAINS(refusal(std::string(8, '\0')), "does not start with {");
}

TEST(Safetensors, RefusesAHeaderThatIsNotItsJson) {
  EXPECT_CONTAINS(refusal(file_of("[]", "")), "does not start with {");
  EXPECT_CONTAINS(refusal(file_of("{\"a\":", "")), "not JSON");
  EXPECT_CONTAINS(refusal(file_of("{\"\xff\":1}", "")), "not JSON");
  EXPECT_CONTAINS(refusal(file_of("{\"a\":" + std::string(100000, '['), "")), "nested too deeply");
  EXPECT_CONTAINS(refusal(file_of("{\"a\":1}", "")), "'a' is not described");
  EXPECT_CONTAINS(refusal(file_of("{\"a\":{}}", "")), "'a' has no dtype");
  EXPECT_CONTAINS(refusal(file_of("{\"__metadata__\":[]}", "")), "__metadata__");
  EXPECT_CONTAINS(refusal(file_of("{\"__metadata__\":{\"k\":1}}", "")), "'k' is not a string");
}

TEST(Safetensors, RefusesDuplicateKeys) {
  const std::string entry = "\"a\":" + tensor("U8", "[1]", "[0,1]");
  EXPECT_CONTAINS(refusal(file_of("{" + entry + "," + entry + "}", "x")), "'a' comes twice");
  EXPECT_CONTAINS(refusal(file_of("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", "")), "'k' comes twice");
}

TEST(Safetensors, NamesTheTensorThatIsWrong) {
  EXPECT_CONTAINS(refusal(one("BF16", "[1]", "[0,2]", "xx")), "'a' has the unknown dtype 'BF16'");
  EXPECT_CONTAINS(refusal(one("U8", "[2]", "[0,1]", "x")), "'a' needs 2 bytes and has 1");
  EXPECT_CONTAINS(refusal(one("U8", "[-1]", "[0,1]", "x")), "whole numbers >= 0 in shape");
  EXPECT_CONTAINS(refusal(one("U8", "[1.0]", "[0,1]", "x")), "whole numbers >= 0 in shape");
  EXPECT_CONTAINS(refusal(one("U8", "[18446744073709551615]", "[0,1]", "x")), "whole numbers");
  EXPECT_CONTAINS(refusal(one("U8", "7", "[0,1]", "x")), "a list as shape");
  EXPECT_CONTAINS(refusal(one("F64", "[4294967296,4294967296]", "[0,1]", "x")), "product is too large");
  EXPECT_CONTAINS(refusal(one("U8", "[1]", "[0]", "x")), "data_offsets [begin, end]");
  EXPECT_CONTAINS(refusal(one("U8", "[1]", "[1,0]", "x")), "data_offsets [begin, end]");
}

TEST(Safetensors, RefusesHolesOverlapsAndOffsetsPastTheEnd) {
  EXPECT_CONTAINS(refusal(one("U8", "[2]", "[0,2]", "x")), "after the end");
  EXPECT_CONTAINS(refusal(one("U8", "[1]", "[0,1]", "xy")), "1 bytes follow the last tensor");
  EXPECT_CONTAINS(refusal(one("U8", "[1]", "[1,2]", "xy")), "hole before it, at data byte 0");
  EXPECT_CONTAINS(refusal(two("[0,2]", "[1,3]", "xyz")), "'b' overlaps");
  EXPECT_CONTAINS(refusal(two("[0,2]", "[3,5]", "vwxyz")), "'b' leaves a hole");
}

TEST(Safetensors, WritesOnlyUtf8Names) {
  SafeTensors content;
  content.metadata["k"] = "\xff";
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<DataError>([&] { write_safetensors(folder.path("m"), content); }), "UTF-8");
}

TEST(Safetensors, TakesAWrongShapeForAMistakeOfTheProgrammer) {
  SafeTensors content;
  content.tensors["a"] = {ElementType::float32, {2}, {1, 2, 3}};
  EXPECT_THROW(write_safetensors("m", content), std::invalid_argument);
  SafeTensors reserved;
  reserved.tensors["__metadata__"] = {ElementType::uint8, {0}, {}};
  EXPECT_THROW(write_safetensors("m", reserved), std::invalid_argument);
}

TEST(Safetensors, ReportsAFullDisk) {
  EXPECT_CONTAINS(message_of<ResourceError>([] { write_safetensors("/dev/full", example()); }),
                  "No space left");
}

TEST(Safetensors, RefusesEveryTruncation) {
  expect_every_truncation_refused(written(example()), parse);
}

TEST(Safetensors, SurvivesRandomDamage) {
  survive_random_damage(written(example()), 10000, parse);
}

TEST(Safetensors, TheDataStartsWhereItIsAskedToAndNothingElseChanges) {
  const SafeTensors content = example();
  SafeTensorsView view;
  view.metadata = content.metadata;
  for (const auto& [name, tensor] : content.tensors)
    view.tensors[name] = {tensor.type, tensor.shape, tensor.bytes.data(), tensor.bytes.size()};
  TemporaryFolder folder;
  write_safetensors(folder.path("m"), view, 64);
  const std::string file = read_whole_file(folder.path("m"));
  expect_same(parse(file), content);
  size_t data = 0;
  for (const auto& [name, tensor] : content.tensors) data += tensor.bytes.size();
  EXPECT_EQ((file.size() - data) % 64, 0u);
}

}  // namespace
}  // namespace eignn
