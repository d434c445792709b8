#include "paper/reproduce.h"

#include <gtest/gtest.h>

#include <set>

#include "paper/names.h"
#include "paper/reproduction.h"
#include "support/message_of.h"

namespace eignn {
namespace {

const Experiment& table_named(const std::string& name) {
  for (const Experiment& table : table_experiments())
    if (table.name == name) return table;
  throw std::runtime_error("no table " + name);
}

TEST(ReproduceTables, EignnsRowsAreTheDefault) {
  const auto rows = rows_of(table_named("heterophilic"), {});
  EXPECT_EQ(rows.size(), 8u);
  for (const ExperimentRow& row : rows) EXPECT_EQ(row.model, "eignn");
  EXPECT_EQ(rows_of(table_named("ppi"), {}).size(), 1u);
}

TEST(ReproduceTables, TheOtherModelsHaveThePapersFigures) {
  ReproduceOptions options;
  options.models = {"h2gcn", "geom-gcn"};
  options.rows = {"texas", "cornell-corrected"};
  const auto rows = rows_of(table_named("heterophilic"), options);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].model, "geom-gcn");
  EXPECT_FALSE(rows[0].paper);  // Cornell's own features have no published figure
  EXPECT_DOUBLE_EQ(rows[1].paper->mean, 67.57);
  EXPECT_FALSE(rows[1].paper->std);
  EXPECT_DOUBLE_EQ(rows[3].paper->mean, 84.76);
  EXPECT_DOUBLE_EQ(*rows[3].paper->std, 5.57);
}

TEST(ReproduceTables, AllModelsOfThePaperAreThere) {
  const Reproduction &heterophilic = reproduction("heterophilic"), &ppi = reproduction("ppi");
  EXPECT_EQ(heterophilic.models.size(), 10u);
  EXPECT_EQ(ppi.models.size(), 7u);
  ReproduceOptions options;
  options.models = heterophilic.models;
  EXPECT_EQ(rows_of(table_named("heterophilic"), options).size(), 8u + 9u * 6u);
}

TEST(ReproduceTables, RefuseRowsThatNoneOfTheModelsHas) {
  ReproduceOptions options;
  options.rows = {"chameleon-plain"};
  EXPECT_NE(message_of<ArgumentError>([&] { rows_of(table_named("heterophilic"), options); }).find("rows"),
            std::string::npos);
  options.rows = {"chameleon-plain-symmetric"};
  options.models = {"gcn"};
  EXPECT_NE(
      message_of<ArgumentError>([&] { rows_of(table_named("heterophilic"), options); }).find("eignn alone"),
      std::string::npos);
}

TEST(ReproduceTables, ThePageNamesTheModelOfEachRow) {
  ResultJson row = {{"label", "Texas"},
                    {"model", "gcn"},
                    {"metric", "accuracy"},
                    {"mean", 64.5},
                    {"std", 5.0},
                    {"runs_count", 10},
                    {"val_mean", 66.0},
                    {"difference", 0.45},
                    {"p", 0.8},
                    {"remark", "as it says"},
                    {"paper", {{"mean", 64.05}, {"std", 5.28}}}};
  row["runs"] = {{{"test_accuracy", 0.645}, {"commit", "abc"}, {"machine", "a machine"}}};
  const ResultJson table = {
      {"experiment", "heterophilic"},
      {"quick", true},
      {"rows", {row}},
      {"provenance", {{"command", "eignn reproduce heterophilic --models gcn --quick"}}}};
  const std::string page = to_markdown(table_named("heterophilic"), table);
  for (const char* part :
       {"| Texas | gcn | 64.50 ± 5.00 | 64.05 ± 5.28 | +0.45 | 0.800 | 66.00 | 10 |",
        "- Texas, gcn: as it says.", "- Texas, gcn: 64.50",
        "the runs are of commit abc, on a machine. All settings and runs: heterophilic-quick.json."})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  EXPECT_EQ(reproduction("heterophilic").outcome(table), "1 of 1 rows at or above the paper's mean");
}

TEST(Reproductions, HaveOneNameEach) {
  std::set<std::string> names;
  for (const Reproduction& experiment : reproductions()) names.insert(experiment.name);
  EXPECT_EQ(names,
            (std::set<std::string>{"chains-binary", "chains-multiclass", "finite-depth", "oversmoothing",
                                   "efficiency", "noise", "heterophilic", "ppi", "attacks", "limitations"}));
  EXPECT_EQ(reproductions().size(), names.size());
}

TEST(Reproductions, AnswerAWrongNameWithTheNearest) {
  EXPECT_NE(
      message_of<ArgumentError>([] { reproduction("chains-binry"); }).find("did you mean chains-binary?"),
      std::string::npos);
  const auto says = [](const char* name, const ReproduceOptions& options) {
    return message_of<ArgumentError>([&] { check_options(reproduction(name), options); });
  };
  ReproduceOptions models, rows, lengths;
  models.models = {"ignn-finit"};
  rows.rows = {"cornell"};
  lengths.lengths = {10};
  EXPECT_NE(says("finite-depth", models).find("did you mean ignn-finite?"), std::string::npos);
  EXPECT_NE(says("noise", rows).find("rows"), std::string::npos);
  EXPECT_NE(says("ppi", lengths).find("lengths"), std::string::npos);
}

TEST(Reproductions, TheIndexLinksEachPage) {
  EXPECT_EQ(index_page({{"A", "a.md", "1 of 2"}, {"B", "b-quick.md", "none"}}),
            "# The paper's experiments, run again\n\n- [A](a.md): 1 of 2.\n- [B](b-quick.md): none.\n");
}

TEST(Reproductions, AreTheExperimentsThatTheCommandLineNames) {
  std::vector<std::string> names;
  for (const Reproduction& experiment : reproductions()) names.push_back(experiment.name);
  EXPECT_EQ(names, experiment_names());
}

}  // namespace
}  // namespace eignn
