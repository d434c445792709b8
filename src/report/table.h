// Plain tables for people.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// Columns padded to their widest cell; the first left-aligned, the others right-aligned. Counts UTF-8
/// characters.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);

}  // namespace eignn
