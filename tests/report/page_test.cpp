// The report page from the folders to the HTML: what is found, what is refused, and that no text of the data
// becomes anything else than text.
#include "report/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "data/atomic_file.h"
#include "eignn/explain.h"
#include "report/explanation_files.h"
#include "report/graph_view.h"
#include "report/thinned_curve.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

const std::string results_folder = EIGNN_TEST_FILES "/../results/";

// Karate's 34 nodes, a few epochs.
TrainedRun kept_run(const std::string& folder, const std::string& seed = "0",
                    const std::string& epochs = "12") {
  TrainOptions options;
  options.set("epochs", epochs).set("threads", "1").set("seed", seed).folder(folder);
  return train(load("karate"), options);
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

ResultJson page_of(const std::vector<std::string>& paths) {
  return page_data(collect(paths), {});
}

// ---- thinning

TEST(ThinnedCurve, KeepsShortCurvesWhole) {
  const ThinnedCurve curve = thinned({3, 1, 2}, 10);
  EXPECT_EQ(curve.place, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(curve.value, (std::vector<double>{3, 1, 2}));
  EXPECT_TRUE(thinned({}, 10).place.empty());
}

TEST(ThinnedCurve, KeepsTheExtremesOfEveryStretchAndBothEnds) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  for (const size_t n : {101UL, 2000UL, 4999UL}) {
    for (const size_t most : {20UL, 60UL, 100UL}) {
      std::vector<double> y(n);
      for (double& value : y) value = noise(random);
      y[n / 3] = 50;   // a spike of one epoch
      y[n / 2] = -50;  // and a dip
      const ThinnedCurve curve = thinned(y, most);
      ASSERT_EQ(curve.place.size(), curve.value.size());
      EXPECT_LE(curve.place.size(), most + 2);
      EXPECT_EQ(curve.place.front(), 0U);
      EXPECT_EQ(curve.place.back(), n - 1);
      EXPECT_TRUE(std::is_sorted(curve.place.begin(), curve.place.end()));
      for (size_t i = 0; i < curve.place.size(); ++i) EXPECT_EQ(curve.value[i], y[curve.place[i]]);
      const std::set<size_t> kept(curve.place.begin(), curve.place.end());
      for (size_t s = 0; s < most / 2; ++s) {
        const auto begin = y.begin() + static_cast<std::ptrdiff_t>(s * n / (most / 2)),
                   end = y.begin() + static_cast<std::ptrdiff_t>((s + 1) * n / (most / 2));
        EXPECT_TRUE(kept.count(static_cast<size_t>(std::min_element(begin, end) - y.begin()))) << s;
        EXPECT_TRUE(kept.count(static_cast<size_t>(std::max_element(begin, end) - y.begin()))) << s;
      }
    }
  }
}

TEST(ThinnedCurve, KeepsTheFirstValueThatIsNotFiniteSoThatTheCurveBreaksThere) {
  std::vector<double> y(1000, 1.0);
  for (size_t i = 700; i < 1000; ++i) y[i] = std::nan("");
  const ThinnedCurve curve = thinned(y, 40);
  const auto broken =
      std::find_if(curve.value.begin(), curve.value.end(), [](double v) { return std::isnan(v); });
  ASSERT_NE(broken, curve.value.end());
  EXPECT_EQ(curve.place[static_cast<size_t>(broken - curve.value.begin())], 700U);
}

// ---- texts

TEST(ReportPage, NoTextEndsTheScriptElementAndAllComeBackAsTheyWere) {
  const std::vector<std::string> hostile = {"</script><script>alert(1)</script>",
                                            "<!--<script>",
                                            "]]>&amp;&lt;",
                                            "\"quoted\" 'and' \\back\\slashed",
                                            "line\xE2\x80\xA8separator\xE2\x80\xA9",
                                            "näme 图 🙂",
                                            std::string("nul\0byte", 8),
                                            "@PROJECT_NAME@"};
  const ResultJson data = {{"names", hostile}};
  const std::string safe = script_safe(data);
  for (const unsigned char c : safe) {
    EXPECT_NE(c, '<');
    EXPECT_NE(c, '>');
    EXPECT_NE(c, '&');
    EXPECT_LT(c, 0x80);
    EXPECT_GE(c, 0x20);
  }
  EXPECT_EQ(ResultJson::parse(safe), data);
  const std::string page = page_html(data), empty = page_html(ResultJson::object());
  EXPECT_EQ(count_of(page, "<script"), count_of(empty, "<script"));
  EXPECT_EQ(count_of(page, "</script"), count_of(empty, "</script"));
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(opening) + opening.size();
  EXPECT_EQ(ResultJson::parse(page.substr(begin, page.find("</script", begin) - begin)), data);
}

TEST(ReportPage, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(ResultJson::parse(script_safe({{"name", "run\xFF"}})).at("name"), "run\xEF\xBF\xBD");
}

TEST(ReportPage, IsTheTemplateAndAllowsNoRequest) {
  const std::string page = page_html(ResultJson::object());
  EXPECT_CONTAINS(page, "default-src 'none'");
  for (const char* reaches_out :
       {"src=\"http", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(page.find(reaches_out), std::string::npos) << reaches_out;
  const std::string file = read_whole_file(EIGNN_TEST_FILES "/../web/dist/report.html");
  const size_t place = file.find("\"the data of the report\"");
  ASSERT_NE(place, std::string::npos);
  EXPECT_EQ(page.substr(0, place), file.substr(0, place)) << "cmake/Embed.cmake changed the template";
  EXPECT_EQ(page.substr(place + 2), file.substr(place + std::string("\"the data of the report\"").size()));
}

// ---- what is collected

TEST(CollectedRuns, AreFoundInNestedFoldersOnceEach) {
  const TemporaryFolder folder;
  const RunResult result = kept_run(folder.path("a/deep/er")).result;
  kept_run(folder.path("b"), "1");
  const Collected found = collect({folder.path("b/"), folder.path("."), folder.path("b")});
  ASSERT_EQ(found.runs.size(), 2U);
  EXPECT_EQ(found.runs[0].name, folder.path("b"));
  EXPECT_EQ(found.runs[1].name, folder.path("./a/deep/er"));
  EXPECT_TRUE(found.runs[1].finished);
  EXPECT_DOUBLE_EQ(found.runs[1].result.score.test, result.score.test);
  EXPECT_EQ(found.runs[1].curves.epochs(), 12U);
  EXPECT_EQ(found.runs[1].curves.metric, "accuracy");
}

TEST(CollectedRuns, OnTablesAreReadBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  std::string nodes = "id,label,size\n", edges = "source,target\n";
  for (int i = 0; i < 40; ++i) {
    nodes += fmt::format("\"<b>{}, \"\"{}\"\"\",{},{}\n", i, i, i % 2 ? "odd & so" : "even", i % 2 ? i : -i);
    edges += fmt::format("\"<b>{}, \"\"{}\"\"\",\"<b>{}, \"\"{}\"\"\"\n", i, i, (i + 2) % 40, (i + 2) % 40);
  }
  std::filesystem::create_directories(folder.path("own"));
  folder.write("own/nodes.csv", nodes);
  folder.write("own/edges.csv", edges);
  TrainOptions options;
  options.set("epochs", "5").set("threads", "1").folder(folder.path("r"));
  const Dataset data = load(folder.path("own"));
  train(data, options);
  ResultJson written = ResultJson::parse(read_whole_file(folder.path("r/summary.json")));
  const CollectedRun run = collect({folder.path("r")}).runs.at(0);
  EXPECT_GT(written.at("columns").size(), 2U);
  for (const char* seal : {"format", "digest"}) written.erase(seal);
  EXPECT_EQ(result_json(run.result), written);
  const ResultJson view = graph_view(run, data, {});
  EXPECT_EQ(view.at("names")[7], "<b>7, \"7\"");
  EXPECT_EQ(view.at("label")[7], "odd & so");
  EXPECT_EQ(view.at("classes").size(), 2U);
}

TEST(CollectedRuns, HaveTheCurvesOfTheirEpochs) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  const ResultJson run = page_of({folder.path("r")}).at("runs").at(0);
  std::ifstream lines(folder.path("r/metrics.jsonl"));
  std::string line;
  size_t epoch = 0;
  for (; std::getline(lines, line); ++epoch) {
    const ResultJson json = ResultJson::parse(line);
    EXPECT_NEAR(run.at("curves")[0].at("y")[epoch].get<double>(), json.at("train_loss").get<double>(), 1e-5);
    EXPECT_NEAR(run.at("curves")[2].at("y")[epoch].get<double>(), json.at("val_accuracy").get<double>(),
                1e-5);
  }
  EXPECT_EQ(run.at("curves")[0].at("x").size(), epoch);
  EXPECT_EQ(run.at("summary").at("mu_end").size(), 5U);
}

TEST(CollectedRuns, OfManyEpochsAreThinnedWithoutLosingThePeak) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  std::ofstream lines(folder.path("r/metrics.jsonl"));
  for (int epoch = 0; epoch < 5000; ++epoch)
    lines << ResultJson({{"epoch", epoch},
                         {"train_loss", epoch == 3217 ? 1e6 : 1.0 / (1 + epoch)},
                         {"val_loss", 1},
                         {"val_accuracy", 0.5}})
          << "\n";
  lines.close();
  const ResultJson run = page_of({folder.path("r")}).at("runs").at(0);
  EXPECT_EQ(run.at("epochs"), 5000);
  const auto x = run.at("curves")[0].at("x").get<std::vector<size_t>>();
  const auto y = run.at("curves")[0].at("y").get<std::vector<double>>();
  EXPECT_LT(x.size(), 1300U);
  const auto peak = static_cast<size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  EXPECT_EQ(x[peak], 3217U);
  EXPECT_DOUBLE_EQ(y[peak], 1e6);
}

TEST(CollectedRuns, OfOneTrainingOnSeveralSplitsAreARowWithItsMean) {
  const TemporaryFolder folder;
  double sum = 0;
  for (const char* seed : {"0", "1", "2"})
    sum += kept_run(folder.path(std::string("all/split-") + seed), seed).result.score.test;
  const ResultJson table = page_of({folder.path("all")}).at("tables").at(0);
  ASSERT_EQ(table.at("rows").size(), 1U);
  EXPECT_NEAR(table.at("rows")[0].at("mean").get<double>(), 100 * sum / 3, 1e-3);
  EXPECT_EQ(table.at("rows")[0].at("values").size(), 3U);
}

TEST(CollectedRuns, ThatAreUnfinishedHaveCurvesAndNoScores) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  std::filesystem::remove(folder.path("r/summary.json"));
  std::ofstream(folder.path("r/metrics.jsonl"), std::ios::app) << "{\"epoch\":12,\"train_l";
  const ResultJson data = page_of({folder.path("r")});
  const ResultJson& run = data.at("runs").at(0);
  EXPECT_EQ(run.at("finished"), false);
  EXPECT_EQ(run.at("epochs"), 12);
  EXPECT_FALSE(run.at("summary").contains("test_accuracy"));
  EXPECT_EQ(run.at("settings").at("dataset"), "karate");
}

TEST(CollectedFiles, OfAFolderThatNoPageShowsAreNamed) {
  const TemporaryFolder folder;
  folder.write("trials.json", "[]");
  folder.write("notes.txt", "not JSON");
  const Collected found = collect({folder.path("")});
  EXPECT_TRUE(found.runs.empty());
  ASSERT_EQ(found.not_shown.size(), 1U);
  EXPECT_CONTAINS(found.not_shown[0], "trials.json");
}

TEST(CollectedFiles, ThatAreWrongAreRefusedByName) {
  const TemporaryFolder folder;
  kept_run(folder.path("good"));
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.path("nowhere")}); }), "nowhere");
  std::filesystem::create_directories(folder.path("empty/inside"));
  EXPECT_CONTAINS(message_of<DataError>([&] {
                    collect({folder.path("good"), folder.path("empty")});
                  }),
                  "empty");
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.write("torn.json", "{\"experiment\": ")}); }),
                  "torn.json");
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.write("list.json", "[1, 2]")}); }),
                  "list.json");
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.write("other.json", "{\"a\": 1}")}); }),
                  "other.json");
  EXPECT_CONTAINS(message_of<ArgumentError>([] { collect({}); }), "nothing");
  EXPECT_CONTAINS(
      message_of<DataError>([&] {
        page_of({folder.write("study.json", "{\"experiment\": \"x\", \"points\": [{\"panel\": 3}]}")});
      }),
      "study.json");
}

TEST(CollectedFiles, OfARunThatWereDamagedAreRefused) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  const std::string summary = read_whole_file(folder.path("r/summary.json")),
                    metrics = read_whole_file(folder.path("r/metrics.jsonl"));
  folder.write("r/metrics.jsonl", "nonsense\n" + metrics);
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.path("r")}); }), "line 1");
  folder.write("r/metrics.jsonl", metrics + "{\"epoch\"");
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.path("r")}); }), "line 13");
  folder.write("r/metrics.jsonl", metrics);
  std::string other = summary;
  other.replace(other.find("\"seed\": 0"), 9, "\"seed\": 1");
  folder.write("r/summary.json", other);
  EXPECT_CONTAINS(message_of<DataError>([&] { collect({folder.path("r")}); }), "summary.json");
  folder.write("r/summary.json", summary);
  EXPECT_EQ(collect({folder.path("r")}).runs.size(), 1U);
}

// ---- results of experiments

TEST(ReportedResults, HaveEveryPointRowAndMeasurementOfTheirFiles) {
  const auto file = [](const char* name) {
    return ResultJson::parse(read_whole_file(results_folder + name));
  };
  const ResultJson data =
      page_of({results_folder + "chains-binary.json", results_folder + "heterophilic.json",
               results_folder + "attacks.json", results_folder + "bench-chains.json",
               results_folder + "bench-chains-h200.json"});
  const ResultJson chains = file("chains-binary.json");
  const ResultJson& study = data.at("studies").at(0);
  ASSERT_EQ(study.at("points").size(), chains.at("points").size());
  for (size_t i = 0; i < chains.at("points").size(); ++i)
    for (const char* key : {"series", "x", "mean", "ci95"})
      EXPECT_EQ(study.at("points")[i].at(key), chains.at("points")[i].at(key)) << i << key;
  EXPECT_EQ(study.at("claims").size(), chains.at("claims").size());
  const ResultJson rows = file("heterophilic.json").at("rows");
  ASSERT_EQ(data.at("tables")[0].at("rows").size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(data.at("tables")[0].at("rows")[i].at("mean"), rows[i].at("mean"));
    EXPECT_EQ(data.at("tables")[0].at("rows")[i].at("values").size(), rows[i].at("runs").size());
  }
  const ResultJson attacks = file("attacks.json").at("rows");
  const ResultJson& robust = data.at("robustness")[0].at("rows");
  ASSERT_EQ(robust.size(), attacks.size());
  EXPECT_EQ(robust[0].at("attacks")[1].at("method"), "FGSM");
  EXPECT_DOUBLE_EQ(robust[0].at("attacks")[1].at("epsilon").get<double>(), 1e-3);
  EXPECT_EQ(robust[0].at("attacks")[1].at("certified"),
            attacks[0].at("attacks")[1].at("certified").at("mean"));
  EXPECT_EQ(data.at("speed").size(),
            file("bench-chains.json").at("sizes").size() + file("bench-chains-h200.json").at("runs").size());
  EXPECT_EQ(data.at("speed")[0].at("ours").at("epoch_ms"),
            file("bench-chains.json").at("sizes")[0].at("ours").at("epoch_ms"));
  EXPECT_EQ(data.at("speed")[0].at("dataset"), "chains (100, 20)");
  EXPECT_EQ(data.at("files").size(), 5U);
}

TEST(ReportedResults, OfExperimentsAndBenchmarksAreFoundInTheirFolder) {
  const Collected found = collect({results_folder});
  std::set<std::string> names;
  for (const CollectedResult& result : found.results) names.insert(result.name.substr(results_folder.size()));
  for (const char* name :
       {"attacks", "chains-binary", "chains-multiclass", "efficiency", "finite-depth", "heterophilic",
        "noise", "oversmoothing", "ppi", "bench-chains", "bench-heterophilic", "bench-ppi"})
    EXPECT_TRUE(names.count(std::string(name) + ".json")) << name;
  EXPECT_NO_THROW(page_data(found, {}));
}

TEST(ReportedResults, OfExplainAddUpToTheScore) {
  const TemporaryFolder folder;
  const TrainedRun run = kept_run(folder.path("r"));
  const Dataset data = load("karate");
  const Explanation why = explain(run.model, data, 9);
  const std::string file = folder.write("why.json", explanation_json(why, data, 5).dump());
  const ResultJson shown = page_of({file}).at("explanations").at(0);
  EXPECT_EQ(shown.at("nodes").size(), 5U);
  double by_hop = shown.at("constant").get<double>();
  for (const ResultJson& hop : shown.at("by_hop")) by_hop += hop.at("contribution").get<double>();
  EXPECT_NEAR(by_hop, shown.at("score").get<double>(), 1e-5);
  EXPECT_EQ(explanation_json(why, data, 0).at("nodes").size(), why.nodes.size());
}

// ---- the graph

TEST(GraphView, HasEveryNodeEdgePredictionAndEigenvalue) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  const CollectedRun run = collect({folder.path("r")}).runs.at(0);
  const Dataset data = load("karate");
  const ResultJson view = graph_view(run, data, {});
  EXPECT_EQ(view.at("whole"), true);
  EXPECT_EQ(view.at("names").size(), 34U);
  EXPECT_EQ(view.at("edges").size(), 2U * 78U);
  for (size_t e = 0; e < view.at("edges").size(); e += 2)
    EXPECT_LT(view.at("edges")[e].get<int64_t>(), view.at("edges")[e + 1].get<int64_t>()) << "each edge once";
  const auto counts = view.at("spectrum").at("counts").get<std::vector<int64_t>>();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), 34);
  EXPECT_NEAR(view.at("spectrum").at("max").get<double>(), 1, 1e-12);
  double sum = 0;
  const ResultJson& likeliest = view.at("likeliest")[9];
  for (size_t k = 1; k < likeliest.size(); k += 2) sum += likeliest[k].get<double>();
  EXPECT_NEAR(sum, 1, 1e-3);
  EXPECT_EQ(view.at("predicted")[9], view.at("classes")[likeliest[0].get<size_t>()]);
}

TEST(GraphView, OfALargeGraphHasTheNodesNearestToTheOneInTheMiddle) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  const CollectedRun run = collect({folder.path("r")}).runs.at(0);
  GraphViewOptions options;
  options.whole = 20;
  options.neighbourhood = 12;
  options.node = "16";
  const ResultJson view = graph_view(run, load("karate"), options);
  EXPECT_EQ(view.at("whole"), false);
  EXPECT_EQ(view.at("nodes"), 34);
  ASSERT_EQ(view.at("names").size(), 12U);
  EXPECT_EQ(view.at("names")[view.at("middle").get<size_t>()], "16");
  options.node = "99";
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { graph_view(run, load("karate"), options); }), "99");
}

TEST(GraphView, NearestNodesAreThoseOfTheFewestHops) {
  const Graph ring = Graph::from_arcs(8, {0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 0}).symmetrised();
  EXPECT_EQ(nearest_nodes(ring, 0, 5), (std::vector<int64_t>{0, 1, 7, 2, 6}));
  EXPECT_EQ(nearest_nodes(ring, 3, 100).size(), 8U);
  EXPECT_EQ(nearest_nodes(Graph::from_arcs(3, {0}, {1}), 2, 3), (std::vector<int64_t>{2}))
      << "an isolated node";
}

TEST(GraphView, RefusesPredictionsOfOtherData) {
  const TemporaryFolder folder;
  kept_run(folder.path("r"));
  CollectedRun run = collect({folder.path("r")}).runs.at(0);
  const std::string csv = read_whole_file(folder.path("r/predictions.csv"));
  for (const std::string& changed : {csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1),
                                     csv + csv.substr(csv.rfind('\n', csv.size() - 2) + 1)}) {
    folder.write("r/predictions.csv", changed);
    EXPECT_CONTAINS(message_of<DataError>([&] { graph_view(run, load("karate"), {}); }), "predictions.csv");
  }
}

}  // namespace
}  // namespace eignn
