#include "paper/claims.h"

#include <fmt/format.h>

#include <cmath>

#include "run/statistics.h"

namespace eignn {

namespace {

constexpr double significant = 0.05;

const std::map<double, PointFigure>& curve_of(const PanelFigures& panel, const std::string& series) {
  static const std::map<double, PointFigure> none;
  const auto at = panel.find(series);
  return at == panel.end() ? none : at->second;
}

bool inside(const Range& range, double x) {
  return x >= range.from && x <= range.to;
}

// Checks holds(figure) for every point of a series.
template <class Holds>
void check_points(const PanelFigures& panel, const std::string& series, const Range& range, Checked& out,
                  Holds holds) {
  for (const auto& [x, figure] : curve_of(panel, series)) {
    if (!inside(range, x)) continue;
    ++out.points;
    if (!holds(figure))
      out.breaches.push_back(fmt::format("{} {:.2f} at {}", series, figure.mean, figure.x_text));
  }
}

// Checks holds(a's mean, b's mean) at every x that both series have.
template <class Holds>
void check_pairs(const PanelFigures& panel, const std::string& a, const std::string& b, const Range& range,
                 Checked& out, Holds holds) {
  const auto& other = curve_of(panel, b);
  for (const auto& [x, figure] : curve_of(panel, a)) {
    const auto at = other.find(x);
    if (at == other.end() || !inside(range, x)) continue;
    ++out.points;
    if (!holds(figure.mean, at->second.mean))
      out.breaches.push_back(
          fmt::format("{} {:.2f} and {} {:.2f} at {}", a, figure.mean, b, at->second.mean, figure.x_text));
  }
}

Series series_of(const PointFigure& figure) {
  const MeanOfRuns m = mean_of_runs(figure.runs);
  return {m.mean, m.std, static_cast<double>(figure.runs.size())};
}

}  // namespace

const char* Checked::verdict() const {
  if (!breaches.empty()) return "fails";
  return controls.empty() ? "holds" : "not shown";
}

Claim reaches(std::string text, std::string series, double level, Range range) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            check_points(panel, series, range, out,
                         [&](const PointFigure& f) { return f.mean >= level - 0.5; });
            return out;
          }};
}

Claim lies_near(std::string text, std::vector<std::string> series, double level, double within) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            for (const auto& name : series)
              check_points(panel, name, {}, out,
                           [&](const PointFigure& f) { return std::abs(f.mean - level) <= within; });
            return out;
          }};
}

Claim is_above(std::string text, std::string higher, std::vector<std::string> lower, Range range) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            for (const auto& name : lower)
              check_pairs(panel, higher, name, range, out, [](double a, double b) { return a > b; });
            return out;
          }};
}

Claim lies_between(std::string text, std::vector<std::string> series, std::string low, std::string high) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            for (const auto& name : series) {
              check_pairs(panel, name, low, {}, out, [](double a, double b) { return a >= b; });
              check_pairs(panel, name, high, {}, out, [](double a, double b) { return a <= b; });
            }
            return out;
          }};
}

Claim falls(std::string text, std::vector<std::string> series, Range range) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            for (const auto& name : series) {
              std::vector<std::vector<double>> groups;
              std::string first, last;
              for (const auto& [x, figure] : curve_of(panel, name)) {
                if (!inside(range, x)) continue;
                if (groups.empty()) first = figure.x_text;
                last = figure.x_text;
                groups.push_back(figure.runs);
              }
              if (groups.size() < 2) continue;
              ++out.points;
              const double p = falling_trend_p(groups);
              const std::string found =
                  fmt::format("{} from {} to {}, trend test p = {}", name, first, last, p_text(p));
              (p < significant ? out.evidence : out.breaches).push_back(found);
            }
            return out;
          }};
}

Claim loss_stays(std::string text, std::string series, double level, Range range) {
  return {std::move(text), [=](const PanelFigures& panel) {
            Checked out;
            for (const auto& [x, figure] : curve_of(panel, series)) {
              if (!inside(range, x)) continue;
              ++out.points;
              if (!(figure.train_loss >= 0.9 * level))
                out.breaches.push_back(fmt::format("{} has a training loss of {:.4f} at {}", series,
                                                   figure.train_loss, figure.x_text));
            }
            return out;
          }};
}

Claim unless_control_has_it(Claim claim, const std::string& higher, const std::string& lower, Range control) {
  return {
      std::move(claim.text), [=, check = std::move(claim.check)](const PanelFigures& panel) {
        Checked out = check(panel);
        const auto& other = curve_of(panel, lower);
        for (const auto& [x, figure] : curve_of(panel, higher)) {
          const auto at = other.find(x);
          if (at == other.end() || !inside(control, x)) continue;
          const double p = welch_p(series_of(figure), series_of(at->second));
          if (figure.mean > at->second.mean && p < significant) {
            out.controls.push_back(fmt::format("{} {:.2f} and {} {:.2f} at {}, p = {}", higher, figure.mean,
                                               lower, at->second.mean, figure.x_text, p_text(p)));
          }
        }
        return out;
      }};
}

}  // namespace eignn
