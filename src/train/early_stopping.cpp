#include "train/early_stopping.h"

#include <algorithm>

#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {

EarlyStopping::Rule EarlyStopping::parse(const std::string& name) {
  if (name == "loss") return Rule::loss;
  if (name == "score") return Rule::score;
  if (name == "either") return Rule::either;
  throw unknown_name("stopping rule", "stopping", name, {"loss", "score", "either"});
}

EarlyStopping::Verdict EarlyStopping::judge(double val_loss, double val_score) {
  const bool loss_improves = val_loss<best_loss, score_improves = val_score> best_score;
  const bool loss_holds = val_loss <= best_loss, score_holds = val_score >= best_score;
  Verdict verdict{};
  bool reset = false;
  switch (rule_) {
    case Rule::loss:
      reset = verdict.keep = loss_improves;
      break;
    case Rule::score:
      reset = verdict.keep = score_improves;
      break;
    case Rule::either:
      reset = loss_holds || score_holds;
      verdict.keep = (loss_holds && score_holds) || score_improves;
      break;
  }
  best_loss = std::min(best_loss, val_loss);
  best_score = std::max(best_score, val_score);
  waited = reset ? 0 : waited + 1;
  verdict.stop = waited >= patience_;
  return verdict;
}

}  // namespace eignn
