// Models by name.
#include "eignn/model.h"

namespace eignn {

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = {"eignn"};
  return names;
}

}  // namespace eignn
