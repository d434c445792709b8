// What features alone can predict on a data set: the score of the best look-up table of the training nodes.
#pragma once

#include "eignn/dataset.h"

namespace eignn {

struct LookUp {
  double score = 0;     // of the look-up on the test nodes: accuracy, or micro-F1 where nodes have label sets
  double constant = 0;  // of answering the most frequent class of the training nodes everywhere
};

/// A test node is given the most frequent label among the training nodes with exactly the same features, or
/// the most frequent of all training labels where there is no such node. Ties go to the label that is more
/// frequent in all of training, then to the smaller one. Label sets are looked up class by class: a class is
/// predicted when more than half of the nodes have it. A score near that of a trained model shows that the
/// split leaks, or that the graph is not needed.
LookUp look_up_score_of(const Dataset& dataset, const Split& split);

}  // namespace eignn
