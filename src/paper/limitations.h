// What the paper's appendix leaves to future research: truncated spectra, partitions and coarser graphs
// beside the exact solution, and thin F where features are many.
#pragma once

#include <string>
#include <vector>

#include "paper/reproduction.h"

namespace eignn {

/// One row of the page: a way to compute on one data set.
struct LimitationRow {
  std::string subject;                          // "Squirrel"
  std::string way;                              // "truncated, 64 eigenpairs"
  std::string dataset;                          // a named set; empty: a generated graph
  int64_t generated = 0;                        // nodes of the generated graph
  std::map<std::string, std::string> settings;  // on top of the recipe
  int64_t splits = 1;                           // at most so many of the data set's
  bool ranks = false;                           // of the table of ranks, which has no exact Z to compare with

  std::string label() const { return subject + ", " + way; }
};

/// The rows of a quick or a full run. Those of the ranks are there where this program knows the setting rank.
std::vector<LimitationRow> limitation_rows(bool quick);
/// Those that the options name; ArgumentError{"rows"} for a name that none has.
std::vector<LimitationRow> limitation_rows(const ReproduceOptions& options);

/// ‖Z - Z_exact‖_F / ‖Z_exact‖_F over all nodes and equilibria: the states that a kept run's solver, parts or
/// clusters give its F, beside the equilibrium of the whole graph for the same F. The run is one of a layer
/// without an encoder.
double state_error(const std::string& folder);

std::string limitations_page(const ResultJson& results);

Reproduction limitations_reproduction();

}  // namespace eignn
