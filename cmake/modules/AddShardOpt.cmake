# Targets of this project. Two kinds of library: plain ones, which see nothing
# but the standard library and what they link, and MLIR ones, which also see
# the headers of LLVM and MLIR and link the shared libMLIR.

include_guard()
include(Sanitize)
include(StdLayers)

# Headers take far longer to compile than what includes them (those of MLIR ten
# times as long), so several sources are compiled at once: 8, and of those that
# read MLIR's up to 13, in batches of one size. A file whose static names are
# another's too stays out by SKIP_UNITY_BUILD_INCLUSION.
option(SHARDOPT_UNITY "Compile the sources of a target in batches" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# GCC believes optionals of LLVM uninitialised (LLVM is built without that warning
# too), and names a batch as the file that its anonymous namespaces are included
# from.
set(SHARDOPT_WARNINGS_LEFT_OUT)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND SHARDOPT_WARNINGS_LEFT_OUT -Wno-maybe-uninitialized)
  if(SHARDOPT_UNITY)
    list(APPEND SHARDOPT_WARNINGS_LEFT_OUT -Wno-subobject-linkage)
  endif()
endif()
set(SHARDOPT_WARNINGS -Wall -Wextra -Wno-unused-parameter ${SHARDOPT_WARNINGS_LEFT_OUT})

# shardopt_library(<name> [MLIR] SOURCES <file>... [LINK <lib>...] [DEPENDS <target>...])
#
# A static library named after its folder (lib/Search -> ShardOptSearch). Plain
# ones are the component Planning of the package, MLIR ones the component
# Compiler.
function(shardopt_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(ShardOpt::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${SHARDOPT_UNITY})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_options(${name} PRIVATE ${SHARDOPT_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_MLIR)
    shardopt_use_mlir(${name})
    list(LENGTH ARG_SOURCES sources)
    math(EXPR batches "(${sources} + 12) / 13")
    math(EXPR batch "(${sources} + ${batches} - 1) / ${batches}")
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch})
  else()
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_MLIR)
    set_property(GLOBAL APPEND PROPERTY SHARDOPT_COMPILER_LIBRARIES ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY SHARDOPT_PLANNING_LIBRARIES ${name})
  endif()
endfunction()

# Sources of a library that are vectorised in all configurations and whose sums
# have the same bits on every processor. Compilers contract a product and a sum
# into one operation, rounded once, where the target has it. That of x86-64
# without further options has not, nor has `avx2` (Support/Wide.h).
function(shardopt_inner_loops)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=off")
endfunction()

# A wheel contains the parts of LLVM and MLIR that it uses; everything else shares
# libMLIR and libLLVM.
option(SHARDOPT_STATIC_MLIR "Link the archives of LLVM and MLIR" OFF)
set(SHARDOPT_MLIR MLIR LLVM)
if(SHARDOPT_STATIC_MLIR)
  # MLIR's archives name libLLVM.so, which has 150 MB, and some libMLIR.so. They link as
  # well with LLVM's archives.
  llvm_map_components_to_libnames(components
    AsmParser BitReader BitWriter Core FrontendOpenMP IRReader Linker Passes Support
    TargetParser TransformUtils)
  add_library(ShardOptLLVM INTERFACE)
  target_link_libraries(ShardOptLLVM INTERFACE ${components})
  set(SHARDOPT_MLIR)
  get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER imported INCLUDE REGEX "^MLIR")
  foreach(library ${imported})
    get_target_property(kind ${library} TYPE)
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    if(kind STREQUAL "STATIC_LIBRARY")
      list(APPEND SHARDOPT_MLIR ${library})
    endif()
    if(links)
      list(TRANSFORM links REPLACE "^(LLVM|MLIR|.*<LINK_ONLY:LLVM>)$" ShardOptLLVM)
      set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endforeach()
  # Drop what nothing uses. Names of archives are not exported, so that they count as
  # unused.
  add_link_options(-Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed)
endif()

# Headers of LLVM and MLIR, their compile flags, and their libraries.
function(shardopt_use_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
  target_compile_options(${target} PRIVATE -fno-exceptions)
  target_link_libraries(${target} PUBLIC ${SHARDOPT_MLIR})
endfunction()

# shardopt_tool(<name> [PLAIN] SOURCES <file>... LINK <lib>...)
#
# PLAIN: without LLVM and MLIR.
function(shardopt_tool name)
  cmake_parse_arguments(ARG "PLAIN" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_PLAIN)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  else()
    shardopt_use_mlir(${name})
    target_link_libraries(${name} PRIVATE ShardOptToolMain)
  endif()
  target_compile_options(${name} PRIVATE ${SHARDOPT_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  add_dependencies(${name} ShardOptResearchModule)
  shardopt_sanitize(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# shardopt_unittest(<name> SOURCES <file>... LINK <lib>...)
function(shardopt_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests
    UNITY_BUILD ${SHARDOPT_UNITY})
  target_compile_options(${name} PRIVATE ${SHARDOPT_WARNINGS_LEFT_OUT})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  add_dependencies(${name} ShardOptResearchModule)
  shardopt_sanitize(${name})
  add_test(NAME unit/${name} COMMAND ${name})
  # The tests of layers without MLIR; those that open modules of foreign
  # libraries, which know no sanitizer, are none of them.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR
    BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/unittests OUTPUT_VARIABLE layer)
  shardopt_std_layers(layers)
  if(layer IN_LIST layers AND NOT layer STREQUAL "Search/AgentTorch")
    set_tests_properties(unit/${name} PROPERTIES LABELS std)
    add_dependencies(std-tests ${name})
  endif()
endfunction()
