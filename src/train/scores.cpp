#include "eignn/scores.h"

#include "eignn/error.h"

namespace eignn {

std::optional<double>& PartScores::of(Metric metric) {
  switch (metric) {
    case Metric::automatic:
      break;
    case Metric::accuracy:
      return accuracy;
    case Metric::micro_f1:
      return micro_f1;
    case Metric::roc_auc:
      return roc_auc;
    case Metric::average_precision:
      return average_precision;
    case Metric::macro_f1:
      return macro_f1;
    case Metric::balanced_accuracy:
      return balanced_accuracy;
    case Metric::mse:
      return mse;
    case Metric::mae:
      return mae;
    case Metric::r2:
      return r2;
  }
  throw ArgumentError("metric", "automatic is no metric by itself", "name one");
}

const std::optional<double>& PartScores::of(Metric metric) const {
  return const_cast<PartScores&>(*this).of(metric);
}

const std::vector<Metric>& all_metrics() {
  static const std::vector<Metric> all = {
      Metric::accuracy, Metric::micro_f1,          Metric::roc_auc, Metric::average_precision,
      Metric::macro_f1, Metric::balanced_accuracy, Metric::mse,     Metric::mae,
      Metric::r2};
  return all;
}

}  // namespace eignn
