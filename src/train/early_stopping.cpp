#include "train/early_stopping.h"

#include <algorithm>

namespace eignn {

EarlyStopping::Verdict EarlyStopping::judge(double val_loss, double val_score) {
  const bool loss_improves = val_loss<best_loss, score_improves = val_score> best_score;
  const bool loss_holds = val_loss <= best_loss, score_holds = val_score >= best_score;
  Verdict verdict{};
  bool reset = false;
  switch (rule_) {
    case Stopping::loss:
      reset = verdict.keep = loss_improves;
      break;
    case Stopping::score:
      reset = verdict.keep = score_improves;
      break;
    case Stopping::either:
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
