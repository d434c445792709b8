// "unknown solver 'spectrl' (solver); did you mean spectral? known: …"
#pragma once

#include <string>
#include <vector>

#include "eignn/error.h"

namespace eignn {

/// The known name with the smallest edit distance; empty when none is near.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// The error for a name that is not known.
ArgumentError unknown_name(const std::string& what, const std::string& field, const std::string& given,
                           const std::vector<std::string>& known);

/// The value whose name(value) is `given`; ArgumentError when it is none of `known`.
template <class Enum>
Enum parse_name(const std::string& given, const char* what, const char* field,
                const std::vector<Enum>& known) {
  std::vector<std::string> names;
  for (const Enum value : known) {
    if (given == name(value)) return value;
    names.emplace_back(name(value));
  }
  throw unknown_name(what, field, given, names);
}

}  // namespace eignn
