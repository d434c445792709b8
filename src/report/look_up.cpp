#include "report/look_up.h"

#include <torch/torch.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/sparse_tensor.h"

namespace eignn {

namespace {

// The features of each node as bytes.
class FeatureRows {
 public:
  explicit FeatureRows(const Dataset& dataset) {
    const MatrixRows X(dataset.features);
    for (int64_t v = 0; v < dataset.nodes(); ++v) rows_.push_back(X.bytes(v));
  }

  std::string_view of(int64_t v) const { return rows_[static_cast<size_t>(v)]; }

 private:
  std::vector<std::string> rows_;
};

// The number of training nodes of each class in a group of nodes.
struct Votes {
  std::vector<int64_t> of_class;
  int64_t nodes = 0;
};

class Labels {
 public:
  explicit Labels(const Dataset& dataset)
      : labels_(dataset.labels.contiguous()), several_(dataset.multi_label()), classes_(dataset.classes) {}

  bool has(int64_t v, int64_t c) const {
    return several_ ? labels_.data_ptr<uint8_t>()[v * classes_ + c] != 0
                    : labels_.data_ptr<int64_t>()[v] == c;
  }

  void count(int64_t v, Votes& votes) const {
    votes.of_class.resize(classes_, 0);
    ++votes.nodes;
    if (!several_) {
      ++votes.of_class[labels_.data_ptr<int64_t>()[v]];
      return;
    }
    for (int64_t c = 0; c < classes_; ++c) votes.of_class[c] += has(v, c);
  }

  // Whether each class is in the answer for these votes.
  std::vector<char> answer(const Votes& votes, const Votes& overall) const {
    std::vector<char> in(classes_, 0);
    if (several_) {
      for (int64_t c = 0; c < classes_; ++c) in[c] = 2 * votes.of_class[c] > votes.nodes;
      return in;
    }
    int64_t best = 0;
    for (int64_t c = 1; c < classes_; ++c)
      if (std::pair(votes.of_class[c], overall.of_class[c]) >
          std::pair(votes.of_class[best], overall.of_class[best]))
        best = c;
    in[best] = 1;
    return in;
  }

  int64_t classes() const { return classes_; }

 private:
  torch::Tensor labels_;
  bool several_;
  int64_t classes_;
};

// Micro-F1; where each node has one class and one answer it is the accuracy.
class Score {
 public:
  void add(int64_t v, const std::vector<char>& answer, const Labels& labels) {
    for (int64_t c = 0; c < labels.classes(); ++c) {
      const bool true_class = labels.has(v, c), answered = answer[c] != 0;
      both_ += true_class && answered;
      either_ += true_class + answered;
    }
  }
  double value() const {
    return either_ == 0 ? 0 : 2 * static_cast<double>(both_) / static_cast<double>(either_);
  }

 private:
  int64_t both_ = 0, either_ = 0;
};

}  // namespace

LookUp look_up_score_of(const Dataset& dataset, const Split& split) {
  const FeatureRows rows(dataset);
  const Labels labels(dataset);
  const auto train = split.train.contiguous(), test = split.test.contiguous();
  std::unordered_map<std::string_view, Votes> table;
  Votes overall;
  for (int64_t k = 0; k < train.numel(); ++k) {
    const int64_t v = train.data_ptr<int64_t>()[k];
    labels.count(v, table[rows.of(v)]);
    labels.count(v, overall);
  }
  if (overall.nodes == 0) return {};
  const auto constant = labels.answer(overall, overall);
  std::unordered_map<std::string_view, std::vector<char>> answers;
  for (const auto& [features, votes] : table) answers[features] = labels.answer(votes, overall);
  Score looked_up, always;
  for (int64_t k = 0; k < test.numel(); ++k) {
    const int64_t v = test.data_ptr<int64_t>()[k];
    const auto found = answers.find(rows.of(v));
    looked_up.add(v, found == answers.end() ? constant : found->second, labels);
    always.add(v, constant, labels);
  }
  return {looked_up.value(), always.value()};
}

}  // namespace eignn
