// The paper's table of attacks, run on checkpoints and set beside the paper's figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attack/attack.h"
#include "paper/reproduction.h"

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

/// All the attacks on one checkpoint, a file or a run folder; `all_rows`: on all rows at once too.
AttackRow attack_checkpoint(const std::string& checkpoint, bool all_rows = true);
/// The same for a run folder, which keeps the result in attacks.json and is asked for it the next time,
/// unless the weights are newer, or this is another version of the program.
AttackRow attack_run(const std::string& folder);
/// `split` behind the row's own. ArgumentError when they are not of one model and one data set.
void add_split(AttackRow& row, const AttackRow& split);

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

/// The page for people, of that JSON; `provenance` is its last paragraph.
std::string attack_page(const ResultJson& table, const std::string& provenance);

/// EIGNN, H2GCN and IGNN on the universities, trained as for the table of heterophilic graphs, then attacked.
Reproduction attacks_reproduction();

}  // namespace eignn
