#pragma once

namespace eignn {

const char* version();       // of the project
const char* built_commit();  // of the sources, with "-dirty" when they had changes
long long peak_memory_bytes();

}  // namespace eignn
