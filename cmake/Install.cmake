# `cmake --install` and find_package(eignn): the libraries, the public headers, the command.
include(CMakePackageConfigHelpers)

set(installed eignn eignn_base eignn_openblas)
foreach(part eignn_libzip eignn_zlib eignn_amd eignn_metis eignn_curl)
  if(TARGET ${part})
    list(APPEND installed ${part})
  endif()
endforeach()
install(TARGETS ${installed} EXPORT eignnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS eignn-engine LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS eignn-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${EIGNN_SHARE}/eignn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${EIGNN_SHARE}/eignn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME eignn)
install(FILES ${EIGNN_SHARE}/_eignn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${EIGNN_SHARE}/eignn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY include/eignn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT eignnTargets NAMESPACE eignn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eignn)
configure_package_config_file(cmake/eignnConfig.cmake.in ${PROJECT_BINARY_DIR}/eignnConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eignn)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/eignnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/eignnConfig.cmake ${PROJECT_BINARY_DIR}/eignnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eignn)
