// The report page: one HTML file with everything in it, made of a template (web/) and of one JSON object.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/collected.h"

namespace eignn {

/// How an experiment's figures are called on the page.
struct ExperimentWords {
  std::string title, x_label, y_label;
};

struct PageOptions {
  /// The words for an experiment's results; nothing for one that is not known. May be empty.
  std::function<std::optional<ExperimentWords>(const ResultJson&)> words = {};
  std::vector<ResultJson> graphs = {};        // of graph_view()
  std::vector<ResultJson> explanations = {};  // of explanation_json(), made for this page
  std::string command;                        // that makes the page, for its provenance
};

/// The object that the page reads; web/src/data.ts has its form. DataError for a result whose content does
/// not fit its kind.
ResultJson page_data(const Collected& collected, const PageOptions& options);

/// The template with the object in it. Whatever texts the object has, none of them can end the script element
/// that holds it, and all stay text.
std::string page_html(const ResultJson& data);

/// The object as text that may stand inside a script element of HTML.
std::string script_safe(const ResultJson& data);

}  // namespace eignn
