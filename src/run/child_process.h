// Programs that are run to their end: this one again, python3, gnuplot.
#pragma once

#include <string>
#include <vector>

namespace eignn {

struct ChildResult {
  int exit_code = 0;   // 127: there is no such program; 128 + k: signal k ended it
  std::string output;  // standard output
};

/// Runs a program (found by PATH) to its end, with `input` on its standard input, and its standard error in
/// the file `errors` when that is given. Input and output flow at the same time, whatever their sizes.
/// Several threads may do so at once: no child inherits what belongs to another. ResourceError when no
/// process can be started.
ChildResult run_child(const std::vector<std::string>& arguments, const std::string& input = {},
                      const std::string& errors = {});

/// The path of this very program.
std::string own_path();

}  // namespace eignn
