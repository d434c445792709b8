#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "eignn/error.h"

namespace eignn {

/// Every proper prefix of a file must be refused.
template <class Read>
void expect_every_truncation_refused(const std::string& bytes, Read read) {
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read(bytes.substr(0, length)), Error) << length << " of " << bytes.size() << " bytes";
  }
}

/// Damaged files may parse or be refused. Anything else, a crash or another exception, fails the test.
template <class Read>
void survive_random_damage(const std::string& bytes, int rounds, Read read) {
  std::mt19937 random(20231115);
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes;
    for (auto flips = 1 + random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    }
    try {
      read(damaged);
    } catch (const Error&) {
    }
  }
}

}  // namespace eignn
