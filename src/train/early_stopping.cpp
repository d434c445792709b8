#include "train/early_stopping.h"

#include <algorithm>

namespace eignn {

EarlyStopping::Verdict EarlyStopping::judge(double val_loss, double val_accuracy) {
  const bool loss_holds = val_loss <= best_loss, accuracy_holds = val_accuracy >= best_accuracy;
  const bool loss_improves = val_loss<best_loss, accuracy_improves = val_accuracy> best_accuracy;
  const bool reset = rule_ == Rule::loss ? loss_improves : (loss_holds || accuracy_holds);
  const bool keep =
      rule_ == Rule::loss ? loss_improves : ((loss_holds && accuracy_holds) || accuracy_improves);
  best_loss = std::min(best_loss, val_loss);
  best_accuracy = std::max(best_accuracy, val_accuracy);
  waited = reset ? 0 : waited + 1;
  return {keep, waited >= patience_};
}

}  // namespace eignn
