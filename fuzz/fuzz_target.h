// What every fuzz target has: bytes that may be anything go into one reader.
#pragma once

#include <string_view>

namespace eignn {

/// Each target's own. An error of ours is a right answer; a crash, a hang, another exception or memory out of
/// proportion is a finding.
void fuzz(std::string_view bytes);

}  // namespace eignn
