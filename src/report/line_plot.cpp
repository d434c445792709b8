#include "report/line_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eignn {

namespace {

constexpr std::array<const char*, 10> colours = {"#1b6ca8", "#c8553d", "#588157", "#8a5a9e", "#e09f3e",
                                                 "#2a9d8f", "#9a8c98", "#6d4c41", "#d81b60", "#455a64"};

// `text` as a gnuplot string in double quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::vector<std::string> labels_of(const LinePlot& plot) {
  std::vector<std::string> labels;
  for (const PlotPanel& panel : plot.panels)
    for (const Curve& curve : panel.curves)
      if (std::find(labels.begin(), labels.end(), curve.label) == labels.end()) labels.push_back(curve.label);
  return labels;
}

std::string head(const LinePlot& plot) {
  constexpr int panel_width = 520, height = 420;
  std::string out = fmt::format(
      "set terminal svg size {},{} font \"sans-serif,12\" background \"white\" noenhanced\n"
      "set xlabel {}\nset ylabel {}\nset grid ytics lc rgb \"#dddddd\"\n"
      "set key tmargin center horizontal\n",
      panel_width * std::max<size_t>(1, plot.panels.size()), height, quoted(plot.x_label),
      quoted(plot.y_label));
  if (plot.percent) out += "set yrange [0:105]\n";
  if (plot.log_y) out += "set logscale y\n";
  std::string ticks;
  for (const auto& [x, text] : plot.x_ticks)
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", quoted(text), x);
  if (!ticks.empty()) out += fmt::format("set xtics ({})\nset offsets 0.3, 0.3, 0, 0\n", ticks);
  return out;
}

}  // namespace

std::string gnuplot_script(const LinePlot& plot) {
  const auto labels = labels_of(plot);
  std::string blocks, plots;
  size_t block = 0;
  for (const PlotPanel& panel : plot.panels) {
    std::string curves;
    for (const Curve& curve : panel.curves) {
      if (curve.points.empty()) continue;
      blocks += fmt::format("$d{} << END\n", block);
      for (const auto& [x, y] : curve.points) blocks += fmt::format("{} {}\n", x, y);
      blocks += "END\n";
      const auto k =
          static_cast<size_t>(std::find(labels.begin(), labels.end(), curve.label) - labels.begin());
      curves += fmt::format("{}$d{} with {} lw 2 lc rgb \"{}\"{} title {}", curves.empty() ? "" : ", ",
                            block++, plot.marks ? "linespoints" : "lines", colours[k % colours.size()],
                            plot.marks ? fmt::format(" pt {} ps 0.6", 4 + k % 10) : "", quoted(curve.label));
    }
    if (!curves.empty()) plots += fmt::format("set title {}\nplot {}\n", quoted(panel.title), curves);
  }
  return head(plot) + blocks +
         fmt::format("set multiplot layout 1,{}\n", std::max<size_t>(1, plot.panels.size())) + plots +
         "unset multiplot\n";
}

}  // namespace eignn
