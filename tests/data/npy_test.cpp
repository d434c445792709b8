#include "data/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "data/atomic_file.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

Array parse(const std::string& bytes) {
  return parse_npy(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), "X.npy");
}

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string doubles() {
  return npy(dictionary("'<f8'", "(2, 3)"), bytes_of<double>({1, 2, 3, 4, 5, 6}));
}

std::string refusal(const std::string& bytes) {
  const std::string message = message_of<DataError>([&] { parse(bytes); });
  EXPECT_CONTAINS(message, "X.npy");
  return message;
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const Array array = parse(npy(dictionary("'<f8'", "(2,)"), bytes_of<double>({1.5, -2}), version));
    EXPECT_EQ(array.shape, std::vector<int64_t>{2});
    EXPECT_EQ(array.as<double>(), (std::vector<double>{1.5, -2}));
  }
}

template <class T>
void expect_read(const std::string& descr, const std::vector<T>& values) {
  const Array array = parse(npy(dictionary("'" + descr + "'", "(2,)"), bytes_of(values)));
  EXPECT_EQ(array.type, element_type_of<T>()) << descr;
  EXPECT_EQ(array.as<double>(), std::vector<double>(values.begin(), values.end())) << descr;
}

TEST(Npy, ReadsEveryElementType) {
  expect_read<int8_t>("|i1", {-128, 127});
  expect_read<uint8_t>("|u1", {0, 255});
  expect_read<int16_t>("<i2", {-32768, 32767});
  expect_read<uint16_t>("<u2", {0, 65535});
  expect_read<int32_t>("<i4", {-7, 7});
  expect_read<uint32_t>("<u4", {0, 4294967295U});
  expect_read<int64_t>("<i8", {-7, 7});
  expect_read<uint64_t>("<u8", {0, 7});
  expect_read<float>("<f4", {0.5F, -1});
  expect_read<double>("<f8", {0.1, -1});
  const Array flags = parse(npy(dictionary("'|b1'", "(3,)"), std::string("\0\1\2", 3)));
  EXPECT_EQ(flags.type, ElementType::boolean);
  EXPECT_EQ(flags.as<int64_t>(), (std::vector<int64_t>{0, 1, 1}));
}

TEST(Npy, SwapsBigEndian) {
  const Array array = parse(npy(dictionary("'>i4'", "(2,)"), std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  EXPECT_EQ(array.as<int64_t>(), (std::vector<int64_t>{258, -2}));
}

TEST(Npy, TurnsFortranOrderIntoCOrderAtAnyRank) {
  const Array matrix = parse(npy(dictionary("'|u1'", "(2, 3)", "True"), "adbecf"));
  EXPECT_EQ(std::string(matrix.bytes.begin(), matrix.bytes.end()), "abcdef");

  // Element (i, j, k) of a 2x3x4 array holds 100 i + 10 j + k.
  std::vector<int16_t> fortran;
  std::vector<int16_t> c_order;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) c_order.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  const Array cube = parse(npy(dictionary("'<i2'", "(2, 3, 4)", "True"), bytes_of(fortran)));
  EXPECT_EQ(cube.as<int64_t>(), std::vector<int64_t>(c_order.begin(), c_order.end()));
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  const Array scalar = parse(npy(dictionary("'<f8'", "()", "True"), bytes_of<double>({7})));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.size(), 1);
  const Array empty = parse(npy(dictionary("'<f8'", "(0, 3)", "True"), ""));
  EXPECT_EQ(empty.shape, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(empty.size(), 0);
  EXPECT_TRUE(empty.as<double>().empty());
}

TEST(Npy, AcceptsTheHeaderOfPython2AndKeysInAnyOrder) {
  const Array array = parse(npy("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"|i1\"}", "ab"));
  EXPECT_EQ(array.shape, std::vector<int64_t>{2});
}

TEST(Npy, RefusesObjectArraysByName) {
  const std::string message = refusal(npy(dictionary("'|O'", "(1,)"), "pickle"));
  EXPECT_CONTAINS(message, "'|O' (Python objects)");
  EXPECT_CONTAINS(message, ".astype(np.float64)");
}

TEST(Npy, RefusesOtherDtypesByName) {
  EXPECT_CONTAINS(refusal(npy(dictionary("'<c16'", "(1,)"), std::string(16, 'x'))), "'<c16' (complex)");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f2'", "(1,)"), "xx")), "'<f2' (a float of unusual size)");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<U3'", "(1,)"), std::string(12, 'x'))), "'<U3' (text)");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<M8[ns]'", "(1,)"), std::string(8, 'x'))), "(dates)");
  EXPECT_CONTAINS(refusal(npy(dictionary("[('a', '<f8')]", "(1,)"), std::string(8, 'x'))), "(structured)");
  EXPECT_CONTAINS(refusal(npy(dictionary("''", "(1,)"), "x")), "dtype ''");
  EXPECT_CONTAINS(refusal(npy(dictionary("'|f8'", "(1,)"), std::string(8, 'x'))), "byte order");
}

TEST(Npy, TellsApartTheWaysAFileCanBeWrong) {
  EXPECT_CONTAINS(refusal(""), "empty");
  EXPECT_CONTAINS(refusal("PK\3\4"), "does not start with");
  EXPECT_CONTAINS(refusal("\x93NUM"), "before its version");
  EXPECT_CONTAINS(refusal(std::string("\x93NUMPY\4\0aaaa", 12)), "version 4.0");
  EXPECT_CONTAINS(refusal(std::string("\x93NUMPY\1\0a", 9)), "before the length");
  EXPECT_CONTAINS(refusal(doubles().substr(0, 30)), "the header should have");
  EXPECT_CONTAINS(refusal(doubles().substr(0, doubles().size() - 1)), "48 bytes, the file ends after 47");
  EXPECT_CONTAINS(refusal(doubles() + "x"), "1 bytes follow the data");
}

TEST(Npy, NamesTheMissingKey) {
  EXPECT_CONTAINS(refusal(npy("{}", "")), "no key 'descr'");
  EXPECT_CONTAINS(refusal(npy("{'descr': '<f8'}", "")), "no key 'fortran_order'");
  EXPECT_CONTAINS(refusal(npy("{'descr': '<f8', 'fortran_order': False}", "")), "no key 'shape'");
}

TEST(Npy, NamesTheByteWhereTheHeaderIsWrong) {
  EXPECT_CONTAINS(refusal(npy("['descr']", "")), "expected '{' (X.npy, byte 10)");
  EXPECT_CONTAINS(refusal(npy("{'descr' '<f8'}", "")), "expected ':' (X.npy, byte 19)");
  EXPECT_CONTAINS(refusal(npy("{'x': 1}", "")), "unknown key 'x'");
  EXPECT_CONTAINS(refusal(npy("{'descr': '<f8', 'descr': '<f8'}", "")), "comes twice");
  EXPECT_CONTAINS(refusal(npy("{'descr': '<f8", "")), "does not end");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(1,)", "Tru"), "")), "True or False");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(-1,)"), "")), "dimension");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(1 2)"), "")), "expected ','");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(0,)") + "{", "")), "follows the dictionary");
}

TEST(Npy, RefusesShapesThatOverflowOrExceedTheFile) {
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(4294967296, 4294967296)"), "")), "product of the shape");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(99999999999999999999,)"), "")), "64 bits");
  EXPECT_CONTAINS(refusal(npy(dictionary("'<f8'", "(1000000000000,)"), "")), "8000000000000 bytes");
}

TEST(Npy, NeverCutsFloatsToIntegers) {
  const Array array = parse(doubles());
  EXPECT_CONTAINS(message_of<DataError>([&] { array.as<int64_t>(); }), "float64");
  EXPECT_EQ(array.as<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ChecksTheRangeWhenItConverts) {
  const Array large = parse(npy(dictionary("'<u8'", "(2,)"), bytes_of<uint64_t>({1, 1ULL << 63})));
  EXPECT_CONTAINS(message_of<DataError>([&] { large.as<int64_t>(); }), "element 1 is 9223372036854775808");
  EXPECT_EQ(large.as<uint64_t>()[1], 1ULL << 63);

  const Array negative = parse(npy(dictionary("'<i8'", "(1,)"), bytes_of<int64_t>({-1})));
  EXPECT_THROW(negative.as<uint64_t>(), DataError);
  EXPECT_THROW(negative.as<uint8_t>(), DataError);
  EXPECT_EQ(negative.as<int32_t>()[0], -1);

  const Array lowest = parse(npy(dictionary("'<i8'", "(1,)"), bytes_of<int64_t>({-2147483649})));
  EXPECT_THROW(lowest.as<int32_t>(), DataError);

  const Array huge = parse(npy(dictionary("'<f8'", "(1,)"), bytes_of<double>({1e300})));
  EXPECT_THROW(huge.as<float>(), DataError);
  const double infinity = std::numeric_limits<double>::infinity();
  const Array infinite = parse(npy(dictionary("'<f8'", "(1,)"), bytes_of<double>({infinity})));
  EXPECT_EQ(infinite.as<float>()[0], std::numeric_limits<float>::infinity());
}

TEST(Npy, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::string path = folder.path("Z.npy");
  write_npy<double>(path, {2, 2}, {0.1, -0.0, 3, std::numeric_limits<double>::infinity()});
  const Array back = read_npy(path);
  EXPECT_EQ(back.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(back.as<double>()[0], 0.1);
  write_npy<float>(path, {1}, {0.1F});
  EXPECT_EQ(read_npy(path).as<float>()[0], 0.1F);
  write_npy<int64_t>(path, {}, {-5});
  EXPECT_EQ(read_npy(path).as<int64_t>()[0], -5);
  write_npy<int64_t>(path, {0, 7}, {});
  EXPECT_EQ(read_npy(path).shape, (std::vector<int64_t>{0, 7}));
}

TEST(Npy, StartsTheDataAtAMultipleOf64) {
  const TemporaryFolder folder;
  for (int64_t length = 1; length < 1'000'000'000'000; length *= 10) {
    const std::vector<int64_t> shape = {0, length, 1};
    write_npy<double>(folder.path("Z.npy"), shape, {});
    const std::string file = read_whole_file(folder.path("Z.npy"));
    EXPECT_EQ(file.size() % 64, 0U);
    EXPECT_EQ(file.back(), '\n');
    EXPECT_EQ(parse(file).shape, shape);
  }
}

TEST(Npy, TakesAWrongShapeForAMistakeOfTheProgrammer) {
  EXPECT_THROW(write_npy<double>("Z.npy", {3}, {1, 2}), std::invalid_argument);
  EXPECT_THROW(write_npy("Z.npy", ElementType::int8, {-1}, nullptr), std::invalid_argument);
}

TEST(Npy, ReportsAFullDisk) {
  EXPECT_CONTAINS(message_of<ResourceError>([] { write_npy<double>("/dev/full", {1}, {1}); }),
                  "No space left");
}

TEST(Npy, RefusesEveryTruncation) {
  expect_every_truncation_refused(doubles(), parse);
}

TEST(Npy, SurvivesRandomDamage) {
  survive_random_damage(doubles(), 20000, parse);
  survive_random_damage(npy(dictionary("'>i2'", "(1, 2, 3)", "True"), std::string(12, 'x'), 2), 20000, parse);
}

}  // namespace
}  // namespace eignn
