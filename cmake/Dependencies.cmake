# What the build needs, all of it from the system or from CMAKE_PREFIX_PATH. `./dev setup` installs it on Debian.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
set(EIGNN_CXX_STANDARD 17)

if(NOT EIGNN_BASE_ONLY)
  find_package(CLI11 REQUIRED)
  find_package(OpenMP REQUIRED)
  find_package(Torch REQUIRED)
  if(Torch_VERSION VERSION_GREATER_EQUAL 2.10)
    set(EIGNN_CXX_STANDARD 20)
  endif()
  # pip's libtorch may have the old string ABI; Debian's and the 2.x wheels have the new one.
  string(APPEND CMAKE_CXX_FLAGS " ${TORCH_CXX_FLAGS}")
  # libtorch 2.x ships headers of an fmt of its own, found before the system's: then only they must be used, not a
  # library of another version.
  set(EIGNN_FMT fmt::fmt)
  if(EXISTS "${TORCH_INSTALL_PREFIX}/include/fmt/format.h" AND NOT TORCH_INSTALL_PREFIX STREQUAL "/usr")
    set(EIGNN_FMT fmt::fmt-header-only)
  endif()
  # LAPACK is called directly: Debian's libtorch brings the same OpenBLAS, pip's hides its own. The one on OpenMP shares
  # libtorch's threads; the other has some of its own, and the two sets wait for each other.
  find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp REQUIRED)
  message(STATUS "OpenBLAS: ${OPENBLAS_LIBRARY}")
  add_library(eignn_openblas INTERFACE)
  target_link_libraries(eignn_openblas INTERFACE $<BUILD_INTERFACE:${OPENBLAS_LIBRARY}> $<INSTALL_INTERFACE:openblas>)
  message(STATUS "libtorch ${Torch_VERSION}, C++${EIGNN_CXX_STANDARD}")
endif()

if(NOT EIGNN_MINIMAL)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
  add_library(eignn_libzip INTERFACE)
  target_link_libraries(eignn_libzip INTERFACE $<BUILD_INTERFACE:PkgConfig::LIBZIP> $<INSTALL_INTERFACE:zip>)

  find_package(ZLIB REQUIRED)
  add_library(eignn_zlib INTERFACE)
  target_link_libraries(eignn_zlib INTERFACE $<BUILD_INTERFACE:ZLIB::ZLIB> $<INSTALL_INTERFACE:z>)

  find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse REQUIRED)
  find_library(AMD_LIBRARY amd REQUIRED)
  add_library(eignn_amd INTERFACE)
  target_include_directories(eignn_amd SYSTEM INTERFACE $<BUILD_INTERFACE:${AMD_INCLUDE_DIR}>)
  target_link_libraries(eignn_amd INTERFACE $<BUILD_INTERFACE:${AMD_LIBRARY}> $<INSTALL_INTERFACE:amd>)

  # Downloads and their sums.
  pkg_check_modules(LIBCURL REQUIRED IMPORTED_TARGET libcurl)
  pkg_check_modules(LIBCRYPTO REQUIRED IMPORTED_TARGET libcrypto)
  add_library(eignn_curl INTERFACE)
  target_link_libraries(eignn_curl INTERFACE $<BUILD_INTERFACE:PkgConfig::LIBCURL> $<BUILD_INTERFACE:PkgConfig::LIBCRYPTO>
                                             $<INSTALL_INTERFACE:curl> $<INSTALL_INTERFACE:crypto>)
endif()
