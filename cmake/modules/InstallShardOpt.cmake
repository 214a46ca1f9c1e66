# What `cmake --install` puts where, and the package that find_package(ShardOpt)
# reads. Call once, after every library is declared.

include_guard()
include(CMakePackageConfigHelpers)

function(shardopt_install)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ShardOpt)
  get_property(libraries GLOBAL PROPERTY SHARDOPT_LIBRARIES)

  install(TARGETS ${libraries} EXPORT ShardOptTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ShardOptTargets NAMESPACE ShardOpt:: DESTINATION ${package})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shardopt
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/shardopt
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines
    DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt)

  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/modules/ShardOptConfig.cmake.in
    ${PROJECT_BINARY_DIR}/ShardOptConfig.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/ShardOptConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES
    ${PROJECT_BINARY_DIR}/ShardOptConfig.cmake
    ${PROJECT_BINARY_DIR}/ShardOptConfigVersion.cmake
    DESTINATION ${package})
endfunction()
