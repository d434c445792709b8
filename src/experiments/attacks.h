// The paper's table of attacks, run on checkpoints and set beside the paper's figures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attack/attack.h"
#include "experiments/run_set.h"

namespace eignn {

/// One of the paper's attacks; the label is "FGSM 1e-4".
struct PaperAttack {
  std::string label;
  AttackOptions options;
};
/// FGSM with ε 1e-4, 1e-3, 1e-2, then PGD of 15 steps with the same ε and steps of a tenth.
const std::vector<PaperAttack>& paper_attacks();

/// What one kind of attack did to a model, in percent, split by split.
struct AttackSeries {
  std::vector<double> each;       // test nodes attacked one by one
  std::vector<double> all;        // all rows at once; may be empty
  std::vector<double> certified;  // of `each`; empty where the model is not linear
};

/// One model on one data set.
struct AttackRow {
  std::string dataset, model;       // as --dataset and --model name them
  std::vector<double> clean;        // percent, split by split
  std::vector<AttackSeries> under;  // in the order of paper_attacks()
};

/// Attacks the checkpoints (files or run folders) of one model's splits, in the order given. InputError when
/// they are not of one model and one data set. `on_done` is called after each checkpoint.
AttackRow attack_checkpoints(const std::vector<std::string>& checkpoints, bool all_rows = true,
                             const std::function<void(size_t done)>& on_done = {});

/// The paper's mean ± std, in percent; nothing where it has none.
struct AttackFigure {
  double mean = 0, std = 0;
};
std::optional<AttackFigure> paper_attack_figure(const std::string& dataset, const std::string& model,
                                                size_t attack);

/// "On this data set, under this attack, `ahead` is more accurate than `behind`": so the paper's figures say.
struct AttackOrdering {
  std::string dataset, attack, ahead, behind;
  AttackFigure paper_ahead, paper_behind;  // std as printed
  double ours_ahead = 0, ours_behind = 0;  // means
  bool met = false;                        // ours are in the same order; a tie is not
};

struct AttackTable {
  std::vector<AttackRow> rows;
  std::vector<AttackOrdering> orderings;  // of all pairs of models that both the rows and the paper have
};
AttackTable attack_table(std::vector<AttackRow> rows);

/// With means, deviations, the paper's figures and the orderings.
ResultJson to_json(const AttackTable& table);

/// The page for people; `provenance` is its last paragraph.
std::string attack_page(const AttackTable& table, const std::string& provenance);

}  // namespace eignn
