# What a user gets: the header, libshoal, a CMake package, a pkg-config file, and the preload where `shoal run` looks
# for it. Preloads for several MPIs live side by side under one prefix (component preload); libshoal is for one MPI.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

if(SKBUILD)
  set(preloads shoal/preload)  # in the Python package
else()
  set(preloads lib/shoal)
endif()
install(TARGETS shoal-preload shoal-drop-in shoal_bench DESTINATION ${preloads}/${SHOAL_ABI} COMPONENT preload)
install(TARGETS shoal EXPORT shoal LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY include/shoal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)

install(EXPORT shoal FILE shoal-targets.cmake NAMESPACE shoal:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(cmake/shoal-config.cmake.in shoal-config.cmake INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shoal-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/shoal-config-version.cmake
              cmake/shoal_mpi_soname.cmake DESTINATION ${package_dir} COMPONENT library)

file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/shoal.pc.in shoal.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shoal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
