# `cpack -G DEB` (./dev package): the command, the libraries and their headers as a Debian package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eignn)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "the eignn authors <eignn@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Read from the executable. Any OpenBLAS satisfies it; the one on OpenMP shares libtorch's threads.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-openmp)
# What find_package(eignn) looks for; figures; certificates for downloads.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "gnuplot-nox, libtorch-dev, libfmt-dev, libopenblas-openmp-dev, libsuitesparse-dev, libmetis-dev, libzip-dev, libcurl4-openssl-dev, libssl-dev")
include(CPack)
