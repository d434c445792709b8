#include "equilibrium/kernel_level.h"

namespace eignn::EIGNN_KERNEL_LEVEL {

#define EIGNN_NAME_OF(level) #level
#define EIGNN_NAME(level) EIGNN_NAME_OF(level)

const KernelTable table = {
    EIGNN_NAME(EIGNN_KERNEL_LEVEL),
    {factor<float>, solve<float>, receive<float>, leading_digit<float>, unpack<float>, multiply_rows<float>,
     advance_rows<float>, add_thin_product<float>},
    {factor<double>, solve<double>, receive<double>, leading_digit<double>, unpack<double>,
     multiply_rows<double>, advance_rows<double>, add_thin_product<double>}};

}  // namespace eignn::EIGNN_KERNEL_LEVEL
