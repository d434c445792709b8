#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/bench.h"
#include "data/atomic_file.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "graph/nearest_name.h"
#include "paper/measure_scaling.h"
#include "report/table.h"
#include "run/provenance.h"

#include "cli/flags.h"
#include "eignn/train.h"

namespace eignn::cli {

namespace {

// A point as text, for the command line of the child process that measures it.
std::string to_text(const ScalingPoint& p) {
  return fmt::format("{},{},{},{},{},{},{},{},{}", p.axis, p.graph, p.nodes, p.features, p.edges_per_node,
                     p.components, p.solver, p.entries, p.rank);
}

ScalingPoint parse_point(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> word;
  for (std::string one; std::getline(words, one, ',');) word.push_back(one);
  try {
    return {word.at(0),
            word.at(1),
            std::stoll(word.at(2)),
            std::stoll(word.at(3)),
            std::stoll(word.at(4)),
            std::stoll(word.at(5)),
            word.at(6),
            std::stoll(word.at(7)),
            std::stoll(word.at(8))};
  } catch (const std::exception&) {
    throw UsageError(fmt::format("'{}' is no point (--point); see eignn bench scaling --help", text));
  }
}

void measure_point(const BenchScalingFlags& flags) {
  const ScalingMeasurement m = measure_scaling(parse_point(flags.point), flags.config);
  print_json({{"edges", m.edges},
              {"epoch_s", m.epoch_s},
              {"epochs", m.epochs},
              {"preprocess_s", m.preprocess_s},
              {"first_epoch_s", m.first_epoch_s},
              {"start_memory_bytes", m.start_memory_bytes},
              {"peak_memory_bytes", m.peak_memory_bytes},
              {"iterations", m.iterations},
              {"residual", m.residual},
              {"residual_bound", m.residual_bound > 0 ? Json(m.residual_bound) : Json()},
              {"labelled_difference", m.labelled_difference}});
}

// The point and its measurement; null, with a warning, where the child process failed.
Json run_point(const ScalingPoint& p, const BenchScalingFlags& flags) {
  const TrainConfig& c = flags.config;
  const ChildResult child =
      run_child({own_path(), "bench", "scaling", "--point", to_text(p), "--threads",
                 std::to_string(c.threads), "--dtype", name(c.dtype), "--seed", std::to_string(c.seed)});
  if (child.exit_code != 0) {
    warning(fmt::format("{} on {} nodes ended with exit code {}; it is left out", p.solver, p.nodes,
                        child.exit_code));
    return nullptr;
  }
  Json json = {{"axis", p.axis},         {"graph", p.graph},   {"nodes", p.nodes},
               {"features", p.features}, {"solver", p.solver}, {"components", p.components},
               {"entries", p.entries},   {"rank", p.rank}};
  json.update(parse_child(child, fmt::format("the measurement of {} on {} nodes", p.solver, p.nodes)));
  return json;
}

// A series: all points of one axis, kind of graph and solver.
struct Series {
  std::string axis, graph, solver;
  std::vector<double> position, seconds, bytes;
};

std::vector<Series> series_of(const std::vector<ScalingPoint>& points, const Json& measured) {
  std::vector<Series> all;
  for (size_t k = 0; k < points.size(); ++k) {
    const ScalingPoint& p = points[k];
    if (measured[k].is_null()) continue;
    auto at = std::find_if(all.begin(), all.end(), [&](const Series& s) {
      return s.axis == p.axis && s.graph == p.graph && s.solver == p.solver;
    });
    if (at == all.end()) at = all.insert(all.end(), {p.axis, p.graph, p.solver, {}, {}, {}});
    at->position.push_back(static_cast<double>(p.position()));
    at->seconds.push_back(measured[k]["epoch_s"].get<double>());
    at->bytes.push_back(measured[k]["peak_memory_bytes"].get<double>() -
                        measured[k]["start_memory_bytes"].get<double>());
  }
  return all;
}

Json fits_of(const std::vector<Series>& all) {
  Json fits = Json::array();
  for (const Series& s : all) {
    const double time = fitted_exponent(s.position, s.seconds), memory = fitted_exponent(s.position, s.bytes);
    if (std::isnan(time)) continue;
    fits.push_back({{"axis", s.axis},
                    {"graph", s.graph},
                    {"solver", s.solver},
                    {"points", s.position.size()},
                    {"from", s.position.front()},
                    {"to", s.position.back()},
                    {"time_exponent", time},
                    {"memory_exponent", memory}});
  }
  return fits;
}

void print_tables(const Json& json) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& p : json["points"]) {
    const double edges = p["edges"].get<double>(), seconds = p["epoch_s"].get<double>();
    rows.push_back(
        {p["axis"].get<std::string>(), p["graph"].get<std::string>(),
         fmt::format("{}", p["nodes"].get<int64_t>()), fmt::format("{}", p["edges"].get<int64_t>()),
         fmt::format("{}", p["features"].get<int64_t>()), fmt::format("{}", p["components"].get<int64_t>()),
         p["solver"].get<std::string>(), fmt::format("{:.4g}", seconds),
         fmt::format("{:.3g}", 1e9 * seconds / edges),
         fmt::format("{:.0f}", p["peak_memory_bytes"].get<double>() / 1e6),
         fmt::format("{:.3g}", p["preprocess_s"].get<double>()),
         fmt::format("{:.3g}", p["first_epoch_s"].get<double>()),
         fmt::format("{}", p["iterations"].get<int64_t>()),
         fmt::format("{:.1e}", p["residual"].get<double>()),
         p["residual_bound"].is_null() ? "-" : fmt::format("{:.1e}", p["residual_bound"].get<double>()),
         fmt::format("{:.1e}", p["labelled_difference"].get<double>())});
  }
  fmt::print("a training epoch in s; {} threads, {}, {}\n{}", json["threads"].get<int64_t>(),
             json["dtype"].get<std::string>(), json["machine"].get<std::string>(),
             format_table({"axis", "graph", "nodes", "edges", "m", "components", "solver", "epoch", "ns/edge",
                           "MB", "prep.", "first", "K", "residual", "bound", "labelled"},
                          rows));
  rows.clear();
  for (const Json& fit : json["fits"])
    rows.push_back({fit["axis"].get<std::string>(), fit["graph"].get<std::string>(),
                    fit["solver"].get<std::string>(),
                    fmt::format("{:.0f} to {:.0f}", fit["from"].get<double>(), fit["to"].get<double>()),
                    fmt::format("{:.2f}", fit["time_exponent"].get<double>()),
                    fmt::format("{:.2f}", fit["memory_exponent"].get<double>())});
  if (!rows.empty())
    fmt::print("exponents fitted to time, and to memory beyond what the program itself takes\n{}",
               format_table({"axis", "graph", "solver", "range", "time", "memory"}, rows));
}

// Draws a plot for each axis and kind of graph: seconds over position, both logarithmic.
void plot(const std::vector<Series>& all, const std::string& folder) {
  std::map<std::pair<std::string, std::string>, std::vector<const Series*>> pictures;
  for (const Series& s : all) pictures[{s.axis, s.graph}].push_back(&s);
  static const std::map<std::string, const char*> label = {{"nodes", "nodes"},
                                                           {"features", "features"},
                                                           {"density", "edges per node"},
                                                           {"components", "components"},
                                                           {"wide", "features, a hundred entries a node"},
                                                           {"identity", "nodes, and features"}};
  std::filesystem::create_directories(folder);
  for (const auto& [key, lines] : pictures) {
    const std::string file = fmt::format("{}/scaling-{}-{}.svg", folder, key.first, key.second);
    std::string script = fmt::format(
        "set terminal svg size 640,400 font \"sans-serif,13\" background \"white\"\n"
        "set logscale xy\nset xlabel \"{}\"\nset ylabel \"training epoch, s\"\n"
        "set key outside top center horizontal\nset grid ytics lc rgb \"#dddddd\"\n",
        label.at(key.first));
    std::string what;
    for (const Series* s : lines) {
      script += fmt::format("${} << END\n", s->solver);
      for (size_t k = 0; k < s->position.size(); ++k)
        script += fmt::format("{} {}\n", s->position[k], s->seconds[k]);
      script += "END\n";
      what += fmt::format("{}${} with linespoints lw 2 title \"{}\"", what.empty() ? "" : ", ", s->solver,
                          s->solver);
    }
    const ChildResult drawn = run_child({"gnuplot"}, script + "plot " + what + "\n");
    if (drawn.exit_code == 127)
      return warning("there is no gnuplot: no plots are drawn (--plot); install it");
    if (drawn.exit_code != 0)
      throw ResourceError(fmt::format("gnuplot ended with exit code {}", drawn.exit_code), file,
                          "see the message above");
    write_file_atomically(file, drawn.output);
  }
}

}  // namespace

void run_bench_scaling(const BenchScalingFlags& flags) {
  if (!flags.point.empty()) return measure_point(flags);
  const int64_t threads = Execution(flags.config).threads();
  const auto points = scaling_points(flags.axis, flags.up_to, flags.solvers);
  Json measured = Json::array();
  for (const ScalingPoint& p : points) {
    note(
        fmt::format("{}: {} of {} nodes, {} features, {} …", p.axis, p.graph, p.nodes, p.features, p.solver));
    measured.push_back(run_point(p, flags));
  }
  const auto all = series_of(points, measured);
  Json json = {{"threads", threads},        {"dtype", name(flags.config.dtype)},
               {"machine", machine_name()}, {"commit", built_commit()},
               {"seed", flags.config.seed}, {"gamma", flags.config.eignn().gamma},
               {"points", Json::array()},   {"fits", fits_of(all)}};
  for (const Json& one : measured)
    if (!one.is_null()) json["points"].push_back(one);
  if (!flags.plot.empty()) plot(all, flags.plot);
  flags.json ? print_json(json) : print_tables(json);
}

}  // namespace eignn::cli
