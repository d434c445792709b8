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
    const auto draw = [&](const std::string& what) { curves += (curves.empty() ? "" : ", ") + what; };
    for (const Curve& curve : panel.curves) {
      if (curve.points.empty()) continue;
      blocks += fmt::format("$d{} << END\n", block);
      const bool band = curve.spread.size() == curve.points.size();
      for (size_t k = 0; k < curve.points.size(); ++k) {
        const auto& [x, y] = curve.points[k];
        blocks += fmt::format("{} {}", x, y);
        if (band) {
          blocks += fmt::format(" {} {}", y - curve.spread[k],
                                plot.percent ? std::min(100.0, y + curve.spread[k]) : y + curve.spread[k]);
        }
        blocks += "\n";
      }
      blocks += "END\n";
      const auto k =
          static_cast<size_t>(std::find(labels.begin(), labels.end(), curve.label) - labels.begin());
      const char* colour = colours[k % colours.size()];
      if (band) {
        draw(fmt::format(
            "$d{} using 1:3:4 with filledcurves fc rgb \"{}\" fs transparent solid 0.15 noborder notitle",
            block, colour));
      }
      draw(fmt::format("$d{} using 1:2 with {} lw {} lc rgb \"{}\"{} title {}", block++,
                       plot.marks ? "linespoints" : "lines", curve.label == plot.highlighted ? 4 : 2, colour,
                       plot.marks ? fmt::format(" pt {} ps 0.6", 4 + k % 10) : "", quoted(curve.label)));
    }
    if (!curves.empty() && plot.level) {
      draw(fmt::format("{} with lines lw 1 dt 2 lc rgb \"#888888\" title {}", plot.level->second,
                       quoted(plot.level->first)));
    }
    if (!curves.empty()) plots += fmt::format("set title {}\nplot {}\n", quoted(panel.title), curves);
  }
  return head(plot) + blocks +
         fmt::format("set multiplot layout 1,{}\n", std::max<size_t>(1, plot.panels.size())) + plots +
         "unset multiplot\n";
}

}  // namespace eignn
