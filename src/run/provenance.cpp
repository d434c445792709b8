#include "run/provenance.h"

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace eignn {

namespace {

// The value in the line "key : value" of a file.
std::string value_in(const std::filesystem::path& file, const std::string& key,
                     const std::string& otherwise) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return otherwise;
}

}  // namespace

const char* version() {
  return EIGNN_VERSION;
}

long long peak_memory_bytes() {
  // VmHWM is of this program alone; getrusage also counts the process before exec, when it was a copy of its
  // parent.
  const std::string peak = value_in("/proc/self/status", "VmHWM", "");
  if (!peak.empty()) return std::atoll(peak.c_str()) * 1024;  // in KiB
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<long long>(usage.ru_maxrss) * 1024;  // also in KiB
}

std::string machine_name() {
  return value_in("/proc/cpuinfo", "model name", "unknown processor") + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores";
}

std::string gpu_name() {
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none))
    return value_in(gpu.path() / "information", "Model", "unknown GPU");
  return "unknown GPU";
}

}  // namespace eignn
