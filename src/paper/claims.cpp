#include "paper/claims.h"

#include <fmt/format.h>

#include <cmath>

namespace eignn {

namespace {

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

}  // namespace

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
              const auto& curve = curve_of(panel, name);
              const auto first = curve.lower_bound(range.from), end = curve.upper_bound(range.to);
              if (first == end || std::next(first) == end) continue;
              const PointFigure &a = first->second, &b = std::prev(end)->second;
              ++out.points;
              if (!(b.mean < a.mean - 1))
                out.breaches.push_back(
                    fmt::format("{} {:.2f} at {}, {:.2f} at {}", name, a.mean, a.x_text, b.mean, b.x_text));
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

}  // namespace eignn
