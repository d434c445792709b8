#include "data/dense_features.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/message_of.h"

namespace eignn {
namespace {

template <class T>
ElementType type_for(const std::vector<T>& values) {
  const Array before = array_of({static_cast<int64_t>(values.size())}, values),
              after = as_bytes_if_exact(before);
  EXPECT_EQ(after.shape, before.shape);
  if (after.type == ElementType::uint8) {
    EXPECT_EQ(after.as<double>(), before.as<double>());
  } else {
    EXPECT_EQ(after.bytes, before.bytes);
  }
  return after.type;
}

TEST(DenseFeatures, BecomeBytesOnlyWhereThatIsExact) {
  EXPECT_EQ(type_for<float>({0, 1, 255}), ElementType::uint8);
  EXPECT_EQ(type_for<double>({0, 1, 17}), ElementType::uint8);
  EXPECT_EQ(type_for<int64_t>({0, 200}), ElementType::uint8);
  EXPECT_EQ(type_for<uint64_t>({0, 200}), ElementType::uint8);
  EXPECT_EQ(type_for<float>({0, 0.5F}), ElementType::float32);
  EXPECT_EQ(type_for<double>({0, 256}), ElementType::float64);
  EXPECT_EQ(type_for<double>({0, -1}), ElementType::float64);
  EXPECT_EQ(type_for<float>({0, std::numeric_limits<float>::quiet_NaN()}), ElementType::float32);
  EXPECT_EQ(type_for<int32_t>({0, -1}), ElementType::int32);
  EXPECT_EQ(type_for<int64_t>({0, 256}), ElementType::int64);
  EXPECT_EQ(type_for<uint64_t>({0, UINT64_MAX}), ElementType::uint64);
  EXPECT_EQ(type_for<double>({}), ElementType::uint8);
}

TEST(DenseFeatures, TakeNoMemoryForWhatAFileMerelyClaims) {
  const auto refusal = [](int64_t rows, int64_t columns, size_t bytes) {
    return message_of<DataError>(
        [=] { zero_features(rows, columns, ElementType::float32, bytes, "a.npz[attr_data]"); });
  };
  EXPECT_CONTAINS(refusal(1 << 20, 1 << 20, 1 << 30), "do not fit into 8 GiB (a.npz[attr_data])");
  EXPECT_CONTAINS(refusal(INT64_MAX, INT64_MAX, 1 << 30), "do not fit into 8 GiB");
  EXPECT_CONTAINS(refusal(1, 1 << 30, 100), "100 bytes claim to be 1 x 1073741824 features");
  const Array zeros = zero_features(3, 5, ElementType::float32, 1, "X");
  EXPECT_EQ(zeros.shape, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(zeros.as<float>(), std::vector<float>(15, 0));
}

}  // namespace
}  // namespace eignn
