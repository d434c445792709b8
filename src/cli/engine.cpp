// The engine's entry point, in which all commands do their work (program.h).
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "cli/program.h"

extern "C" __attribute__((visibility("default"))) int eignn_engine_main(int argc, char** argv) {
  return eignn::cli::run_program(argc, argv, [](const std::exception& error) -> std::string {
    if (const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error))
      return fmt::format("libtorch: {}", of_libtorch->what_without_backtrace());
    return error.what();
  });
}
