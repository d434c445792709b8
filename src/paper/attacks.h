// The paper's table of attacks, run on checkpoints and compared with the paper's figures.
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
/// FGSM with ε 1e-4, 1e-3, 1e-2, then PGD with the same ε in 15 steps of ε/10.
const std::vector<PaperAttack>& paper_attacks();

/// The accuracy of a model under one attack, in percent, one value per split.
struct AttackSeries {
  std::vector<double> each;       // test nodes attacked one by one
  std::vector<double> all;        // all rows at once; may be empty
  std::vector<double> certified;  // of `each`; empty where the model is not linear
};

/// One model on one data set.
struct AttackRow {
  std::string dataset, model;       // as --dataset and --model name them
  std::vector<double> clean;        // percent, one value per split
  std::vector<AttackSeries> under;  // in the order of paper_attacks()
};

/// All the attacks on one checkpoint, a file or a run folder; `all_rows`: on all rows at once too.
AttackRow attack_checkpoint(const std::string& checkpoint, bool all_rows = true);
/// The same for a run folder. The result is kept there in attacks.json and used the next time, unless the
/// weights are newer or this is another commit of the program.
AttackRow attack_run(const std::string& folder);
/// Appends the values of `split` to the row. ArgumentError when they are not of one model and one data set.
void add_split(AttackRow& row, const AttackRow& split);

/// The paper's mean ± std, in percent; nothing where it has none.
struct AttackFigure {
  double mean = 0, std = 0;
};
std::optional<AttackFigure> paper_attack_figure(const std::string& dataset, const std::string& model,
                                                size_t attack);

/// A statement that follows from the paper's figures: on this data set and under this attack, `ahead` is more
/// accurate than `behind`.
struct AttackOrdering {
  std::string dataset, attack, ahead, behind;
  AttackFigure paper_ahead, paper_behind;  // std as printed
  double ours_ahead = 0, ours_behind = 0;  // means
  bool met = false;                        // our means are in the same order; false for a tie
};

struct AttackTable {
  std::vector<AttackRow> rows;
  std::vector<AttackOrdering> orderings;  // for all pairs of models that both the rows and the paper have
};
AttackTable attack_table(std::vector<AttackRow> rows);

/// The table with means, standard deviations, the paper's figures and the orderings.
ResultJson to_json(const AttackTable& table);

/// The Markdown page of that JSON; `provenance` becomes its last paragraph.
std::string attack_page(const ResultJson& table, const std::string& provenance);

/// EIGNN, H2GCN and IGNN on the universities, trained as for the table of heterophilic graphs, then attacked.
Reproduction attacks_reproduction();

}  // namespace eignn
