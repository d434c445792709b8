// One command in several processes, which mpirun or srun has started.
#pragma once

#include <functional>
#include <string>

#include "cli/flags.h"
#include "train/spread.h"

namespace eignn::cli {

/// Joins the other processes, calls work() in each, and waits for all. Of an error that one or all of them
/// have, one line is printed; a process that dies ends the others within seconds, with a line that says so
/// and ends with go_on(). Prints nothing from work() but in the first process.
void work_together(const std::function<void(const SpreadOptions&)>& work,
                   const std::function<std::string()>& go_on);

/// Calls work(nullptr) where there is one process; else work_together(), with the grid that the flags ask
/// for, for a command that keeps nothing on its way.
void in_processes(const GridFlag& grid, const std::function<void(const SpreadOptions*)>& work);
/// `all` with that grid.
SpreadOptions on_grid(SpreadOptions all, const GridFlag& grid);

/// "mpirun -n 8 " where there are eight processes; nothing where there is one.
std::string launcher_words();

}  // namespace eignn::cli
