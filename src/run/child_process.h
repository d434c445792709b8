// Runs other programs, such as this one again, python3 and gnuplot, and waits for them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace eignn {

struct ChildResult {
  int exit_code = 0;   // 127: there is no such program; 128 + k: signal k ended it
  std::string output;  // standard output
};

/// Runs a program (found by PATH) and waits for it; it dies with this process. With `input` on its standard
/// input, and its standard error in the file `errors` when that is given. Input and output may have any size.
/// Several threads may call this at once; no child inherits the pipes of another. ResourceError when no
/// process can be started.
///
/// `stop` is asked a few times a second; the first signal that it names (0: none) is sent to the program,
/// which is waited for.
ChildResult run_child(const std::vector<std::string>& arguments, const std::string& input = {},
                      const std::string& errors = {}, const std::function<int()>& stop = {});

/// The path of this program.
std::string own_path();

}  // namespace eignn
