# The commit that was built goes into every summary; asked at build time, so that it cannot go stale.
find_package(Git QUIET)
add_custom_target(
  eignn_revision
  BYPRODUCTS ${PROJECT_BINARY_DIR}/revision.cpp
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${PROJECT_BINARY_DIR}/revision.cpp -P
          ${PROJECT_SOURCE_DIR}/cmake/WriteRevision.cmake)
