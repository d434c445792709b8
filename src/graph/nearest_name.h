// "unknown solver 'spectrl' (--solver); did you mean spectral? known: …"
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// The known name with the smallest edit distance; empty when none is near.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// The one-line message for a name that is not known.
std::string unknown_name(const std::string& what, const std::string& where, const std::string& given,
                         const std::vector<std::string>& known);

}  // namespace eignn
