# What `cmake --install` puts where, and the package that find_package(ShardOpt)
# reads. Call once, after every library is declared.
#
# `--component Planning` installs what plans without a compiler, and nothing that
# needs LLVM: the libraries without MLIR, their headers, machines, the package.

include_guard()
include(CMakePackageConfigHelpers)
include(StdLayers)

function(shardopt_install)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ShardOpt)
  set(headers ${CMAKE_INSTALL_INCLUDEDIR}/shardopt)

  foreach(component Planning Compiler)
    string(TOUPPER ${component} upper)
    get_property(libraries GLOBAL PROPERTY SHARDOPT_${upper}_LIBRARIES)
    if(NOT libraries)
      continue()
    endif()
    install(TARGETS ${libraries} EXPORT ShardOpt${component}Targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
    install(EXPORT ShardOpt${component}Targets NAMESPACE ShardOpt::
      DESTINATION ${package} COMPONENT ${component})
  endforeach()

  shardopt_std_layers(layers)
  foreach(layer ${layers})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shardopt/${layer}
      DESTINATION ${headers} COMPONENT Planning OPTIONAL
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines
    DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt COMPONENT Planning)
  if(SHARDOPT_ENABLE_COMPILER)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shardopt/
      DESTINATION ${headers} COMPONENT Compiler
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td")
    install(DIRECTORY ${PROJECT_BINARY_DIR}/include/shardopt/
      DESTINATION ${headers} COMPONENT Compiler
      FILES_MATCHING PATTERN "*.inc" PATTERN "*.td" PATTERN "CMakeFiles" EXCLUDE)
  endif()

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
    DESTINATION ${package} COMPONENT Planning)
endfunction()
