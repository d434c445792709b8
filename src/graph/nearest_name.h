// "unknown solver 'spectrl' (--solver); did you mean spectral? known: …"
#pragma once

#include <string>
#include <vector>

#include "eignn/error.h"

namespace eignn {

/// The known name with the smallest edit distance; empty when none is near.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// The one-line message for a name that is not known.
std::string unknown_name(const std::string& what, const std::string& where, const std::string& given,
                         const std::vector<std::string>& known);

/// The value whose name(value) is `given`; UsageError when it is none of `known`.
template <class Enum>
Enum parse_name(const std::string& given, const char* what, const char* flag,
                const std::vector<Enum>& known) {
  std::vector<std::string> names;
  for (const Enum value : known) {
    if (given == name(value)) return value;
    names.emplace_back(name(value));
  }
  throw UsageError(unknown_name(what, flag, given, names));
}

}  // namespace eignn
