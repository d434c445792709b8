#pragma once

#include <string>
#include <vector>

namespace eignn::cli {

struct ChildResult {
  int exit_code = 0;
  std::string output;  // standard output
};

/// Runs a program to its end, with `input` on its standard input, and its standard error in the file `errors`
/// when that is given. Several threads may do so at once.
ChildResult run_child(const std::vector<std::string>& arguments, const std::string& input = {},
                      const std::string& errors = {});

/// The path of this very program.
std::string own_path();

}  // namespace eignn::cli
