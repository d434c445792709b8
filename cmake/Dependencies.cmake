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

# Header-only: on a machine without packages copy their headers into a folder and name it.
set(EIGNN_HEADERS "" CACHE PATH "A folder with the headers of toml++ (toml++/toml.h), Boost.Math (boost/math), Spectra and Eigen, where the system has none")
find_path(TOML_INCLUDE_DIR toml++/toml.h HINTS ${EIGNN_HEADERS} REQUIRED)
add_library(eignn_toml INTERFACE)
target_include_directories(eignn_toml SYSTEM INTERFACE ${TOML_INCLUDE_DIR})
find_path(BOOST_MATH_INCLUDE_DIR boost/math/distributions/students_t.hpp HINTS ${EIGNN_HEADERS} REQUIRED)
add_library(eignn_boost_math INTERFACE)
target_include_directories(eignn_boost_math SYSTEM INTERFACE ${BOOST_MATH_INCLUDE_DIR})

# Libraries, each behind a target and EIGNN_HAVE_…. With EIGNN_OPTIONAL_PACKAGES (preset device) what is missing is left
# out: .npz, gzip, the better ordering, partitions, Lanczos, or downloads.
set(required REQUIRED)
if(EIGNN_OPTIONAL_PACKAGES)
  set(required "")
endif()
find_package(PkgConfig ${required})
macro(eignn_pkg_config variable module)
  if(PkgConfig_FOUND)
    pkg_check_modules(${variable} ${required} IMPORTED_TARGET ${module})
  endif()
endmacro()

eignn_pkg_config(LIBZIP libzip)
if(LIBZIP_FOUND)
  set(EIGNN_HAVE_LIBZIP ON)
  add_library(eignn_libzip INTERFACE)
  target_link_libraries(eignn_libzip INTERFACE $<BUILD_INTERFACE:PkgConfig::LIBZIP> $<INSTALL_INTERFACE:zip>)
endif()

find_package(ZLIB ${required})
if(ZLIB_FOUND)
  set(EIGNN_HAVE_ZLIB ON)
  add_library(eignn_zlib INTERFACE)
  target_link_libraries(eignn_zlib INTERFACE $<BUILD_INTERFACE:ZLIB::ZLIB> $<INSTALL_INTERFACE:z>)
endif()

find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse ${required})
find_library(AMD_LIBRARY amd ${required})
if(AMD_INCLUDE_DIR AND AMD_LIBRARY)
  set(EIGNN_HAVE_AMD ON)
  add_library(eignn_amd INTERFACE)
  target_include_directories(eignn_amd SYSTEM INTERFACE $<BUILD_INTERFACE:${AMD_INCLUDE_DIR}>)
  target_link_libraries(eignn_amd INTERFACE $<BUILD_INTERFACE:${AMD_LIBRARY}> $<INSTALL_INTERFACE:amd>)
endif()

find_path(METIS_INCLUDE_DIR metis.h ${required})
find_library(METIS_LIBRARY metis ${required})
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(EIGNN_HAVE_METIS ON)
  add_library(eignn_metis INTERFACE)
  target_include_directories(eignn_metis SYSTEM INTERFACE $<BUILD_INTERFACE:${METIS_INCLUDE_DIR}>)
  target_link_libraries(eignn_metis INTERFACE $<BUILD_INTERFACE:${METIS_LIBRARY}> $<INSTALL_INTERFACE:metis>)
endif()

# Header-only, both of them: EIGNN_HEADERS may have their folders Spectra and Eigen.
if(NOT EIGNN_BASE_ONLY)
  find_path(SPECTRA_INCLUDE_DIR Spectra/SymEigsSolver.h HINTS ${EIGNN_HEADERS} ${required})
  find_path(EIGEN_INCLUDE_DIR Eigen/Core HINTS ${EIGNN_HEADERS} PATH_SUFFIXES eigen3 ${required})
  if(SPECTRA_INCLUDE_DIR AND EIGEN_INCLUDE_DIR)
    set(EIGNN_HAVE_SPECTRA ON)
    add_library(eignn_spectra INTERFACE)
    target_include_directories(eignn_spectra SYSTEM INTERFACE ${SPECTRA_INCLUDE_DIR} ${EIGEN_INCLUDE_DIR})
  endif()
endif()

# Downloads and their sums; what is downloaded may be a zip file.
eignn_pkg_config(LIBCURL libcurl)
eignn_pkg_config(LIBCRYPTO libcrypto)
if(LIBCURL_FOUND AND LIBCRYPTO_FOUND AND LIBZIP_FOUND)
  set(EIGNN_HAVE_CURL ON)
  add_library(eignn_curl INTERFACE)
  target_link_libraries(eignn_curl INTERFACE $<BUILD_INTERFACE:PkgConfig::LIBCURL> $<BUILD_INTERFACE:PkgConfig::LIBCRYPTO>
                                             $<INSTALL_INTERFACE:curl> $<INSTALL_INTERFACE:crypto>)
endif()
