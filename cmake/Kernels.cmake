# The hand-written kernels, compiled once per instruction set and chosen at run time: see src/equilibrium/kernel_table.h.
set(kernel_files
    src/equilibrium/gth_kernel.cpp
    src/equilibrium/kernel_level.cpp
    src/equilibrium/sparse_kernel.cpp
    src/equilibrium/thin_kernel.cpp)
# The elimination gives the same bits on every processor; products may use fused multiply-add where there is one.
set_property(SOURCE src/equilibrium/gth_kernel.cpp PROPERTY COMPILE_OPTIONS -ffp-contract=off)
set_property(SOURCE src/equilibrium/sparse_kernel.cpp PROPERTY COMPILE_OPTIONS -ffp-contract=fast)
# -fopenmp-simd: its loops say themselves that they may be vectorised.
set_property(SOURCE src/equilibrium/thin_kernel.cpp PROPERTY COMPILE_OPTIONS -ffp-contract=fast -fopenmp-simd)

function(eignn_add_kernels level)
  add_library(eignn_kernels_${level} OBJECT ${kernel_files})
  target_compile_features(eignn_kernels_${level} PRIVATE cxx_std_17)
  target_compile_definitions(eignn_kernels_${level} PRIVATE EIGNN_KERNEL_LEVEL=${level})
  target_compile_options(eignn_kernels_${level} PRIVATE ${ARGN})
  target_include_directories(eignn_kernels_${level} PRIVATE src)
  target_link_libraries(eignn_kernels_${level} PRIVATE eignn_warnings)
  target_sources(eignn_base PRIVATE $<TARGET_OBJECTS:eignn_kernels_${level}>)
endfunction()

eignn_add_kernels(plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  # kernel_dispatch.cpp asks the processor for exactly what is allowed here.
  eignn_add_kernels(avx2 -mavx2 -mfma)
  eignn_add_kernels(avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  set_property(SOURCE src/equilibrium/kernel_dispatch.cpp PROPERTY COMPILE_DEFINITIONS EIGNN_X86_KERNELS)
endif()
