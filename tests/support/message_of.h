#pragma once

#include <gtest/gtest.h>

#include <string>

#include "eignn/error.h"

namespace eignn {

/// The message of the error of type E that `act` throws; a failure of the test when it throws none. Checks
/// the form that every message has: one line, "what (where); remedy".
template <class E = Error, class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const E& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_NE(message.find("); "), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

#define EXPECT_CONTAINS(text, part)                                                            \
  do {                                                                                         \
    const std::string whole_text = (text);                                                     \
    EXPECT_NE(whole_text.find(part), std::string::npos) << whole_text << "\nlacks " << (part); \
  } while (false)

}  // namespace eignn
