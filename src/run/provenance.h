#pragma once

#include <string>

namespace eignn {

const char* version();       // of the project
const char* built_commit();  // of the sources, with "-dirty" when they had changes
long long peak_memory_bytes();
std::string machine_name();  // the processor's name and the number of cores
std::string gpu_name();      // the first GPU's

}  // namespace eignn
