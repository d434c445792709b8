# The plugin that several processes communicate by: PETSc over MPI. The engine loads it when a launcher has started more than
# one; without it eignn runs in one. `./dev setup cluster` installs what it needs on Debian.
#
# PETSc with 32-bit indices and real numbers (Debian's libpetsc-real-dev). With 64-bit ones it would load a second OpenBLAS of
# another kind beside libtorch's, and its PTScotch has 32-bit numbers all the same.
option(EIGNN_CLUSTER "Build the plugin for several processes where PETSc and MPI are found" ON)

set(EIGNN_HAVE_CLUSTER OFF)
if(EIGNN_CLUSTER AND PkgConfig_FOUND)
  pkg_check_modules(PETSC QUIET PETSc>=3.15)
  set(MPI_CXX_SKIP_MPICXX ON)  # its C++ bindings are long gone
  find_package(MPI QUIET COMPONENTS CXX)
  if(PETSC_FOUND AND MPI_CXX_FOUND)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${PETSC_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LIBRARIES ${PETSC_LINK_LIBRARIES} MPI::MPI_CXX)
    check_cxx_source_compiles("
      #include <petscsf.h>
      #if defined(PETSC_USE_64BIT_INDICES) || defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
      #error another PETSc
      #endif
      int main() { PetscSF forest; return PetscSFCreate(MPI_COMM_WORLD, &forest); }" EIGNN_PETSC_FITS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(EIGNN_HAVE_CLUSTER ${EIGNN_PETSC_FITS})
  endif()
endif()
if(NOT EIGNN_HAVE_CLUSTER)
  message(STATUS "One process only: PETSc (32-bit indices, real) and MPI were not found")
  return()
endif()
message(STATUS "Several processes: PETSc ${PETSC_VERSION}, MPI ${MPI_CXX_VERSION}")

add_library(eignn-cluster MODULE src/cluster/petsc_transport.cpp)
set_target_properties(eignn-cluster PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON INSTALL_RPATH_USE_LINK_PATH ON)
target_compile_features(eignn-cluster PRIVATE cxx_std_17)
target_include_directories(eignn-cluster PRIVATE src)
# Not with the flags of PETSc's own build.
target_include_directories(eignn-cluster SYSTEM PRIVATE ${PETSC_INCLUDE_DIRS})
target_link_libraries(eignn-cluster PRIVATE eignn_warnings ${PETSC_LINK_LIBRARIES} MPI::MPI_CXX ${CMAKE_DL_LIBS})
add_dependencies(eignn-engine eignn-cluster)
install(TARGETS eignn-cluster LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
