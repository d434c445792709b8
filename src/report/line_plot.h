// Figures with curves in panels side by side, as a gnuplot script that prints an SVG.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eignn {

struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points;
  std::vector<double> spread = {};  // of each point; drawn as a band, empty: none
};

struct PlotPanel {
  std::string title;
  std::vector<Curve> curves;
};

struct LinePlot {
  std::string name;  // suffix of the file's name, after the experiment's: "" or "-loss"
  std::string x_label, y_label;
  std::vector<PlotPanel> panels;
  bool percent = false;  // y from 0 to 105
  bool log_y = false;
  bool marks = true;                                         // a mark at each point
  std::vector<std::pair<double, std::string>> x_ticks;       // empty: gnuplot's
  std::string highlighted = {};                              // the label of a curve with a thicker line
  std::optional<std::pair<std::string, double>> level = {};  // a dashed line across, with its label
};

/// Needs gnuplot 5; curves without points are left out. Equal labels have equal colours in all panels.
std::string gnuplot_script(const LinePlot& plot);

}  // namespace eignn
