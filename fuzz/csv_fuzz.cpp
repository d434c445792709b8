#include "data/csv.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  CsvReader rows(bytes, "fuzz.csv");
  while (rows.next()) {
    for (size_t column = 0; column < rows.columns(); ++column) rows.field(column);
    if (rows.columns() > 0 && !rows.is_empty(0)) rows.number(0);
  }
}

}  // namespace eignn
