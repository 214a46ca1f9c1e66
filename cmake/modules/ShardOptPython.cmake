# The Python package: its sources as links in build/python, the module beside
# them, and `build/bin/shardopt`. Without pybind11 it is left out, with a message.

set(PYBIND11_FINDPYTHON ON)
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 QUIET CONFIG)
if(NOT SHARDOPT_ENABLE_COMPILER OR SHARDOPT_SANITIZE
   OR NOT pybind11_FOUND OR NOT Python_FOUND)
  # A wheel without the package would be empty.
  set(level STATUS)
  if(SKBUILD)
    set(level FATAL_ERROR)
  endif()
  message(${level}
    "The Python package is left out: it needs the compiler, pybind11-dev and python3-dev, and no sanitizer")
  return()
endif()

set(package ${PROJECT_BINARY_DIR}/python/shardopt)
file(MAKE_DIRECTORY ${package})
file(GLOB sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/python/shardopt/*.py
  ${PROJECT_SOURCE_DIR}/python/shardopt/*.pyi
  ${PROJECT_SOURCE_DIR}/python/shardopt/*.json
  ${PROJECT_SOURCE_DIR}/python/shardopt/py.typed)
# A link to what is gone would fail whoever copies the folder.
file(GLOB links LIST_DIRECTORIES true ${package}/*)
foreach(link ${links})
  if(IS_SYMLINK ${link} AND NOT EXISTS ${link})
    file(REMOVE ${link})
  endif()
endforeach()
foreach(source ${sources})
  cmake_path(GET source FILENAME name)
  file(CREATE_LINK ${source} ${package}/${name} SYMBOLIC)
endforeach()
foreach(folder IN ITEMS checking commands deployments shardings torch_graphs)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/shardopt/${folder}
       ${package}/${folder} SYMBOLIC)
endforeach()

pybind11_add_module(shardopt-python MODULE NO_EXTRAS
  python/src/AskTell.cpp
  python/src/DegreeTable.cpp
  python/src/Module.cpp
  python/src/NumberColumns.cpp
  python/src/Rows.cpp
  python/src/Settings.cpp)
set_target_properties(shardopt-python PROPERTIES
  OUTPUT_NAME _shardopt
  LIBRARY_OUTPUT_DIRECTORY ${package}
  CXX_VISIBILITY_PRESET hidden)
target_compile_definitions(shardopt-python PRIVATE
  SHARDOPT_VERSION="${PROJECT_VERSION}")
target_compile_options(shardopt-python PRIVATE
  -Wall -Wextra -Wno-unused-parameter)
target_link_libraries(shardopt-python PRIVATE ShardOptTarget ShardOptPlanning)

# Beside the module in a wheel.
add_dependencies(shardopt-python ShardOptResearchModule)

if(SHARDOPT_STATIC_MLIR)
  foreach(module IN ITEMS shardopt-python ShardOptResearchModule)
    target_sources(${module} PRIVATE ${PROJECT_SOURCE_DIR}/python/src/OlderGlibc.cpp)
    target_link_options(${module} PRIVATE
      -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
      $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-Wl,--wrap=hypot>)
  endforeach()
endif()

# The manual page and the completion, out of the command's options.
set(manual ${PROJECT_BINARY_DIR}/python/shardopt.1)
set(completion ${PROJECT_BINARY_DIR}/python/completions/shardopt)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/completions)
foreach(kind IN ITEMS man bash)
  set(output ${manual})
  if(kind STREQUAL bash)
    set(output ${completion})
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/python
            ${Python_EXECUTABLE} -B -m shardopt.manual ${kind} > ${output}
    DEPENDS ${PROJECT_SOURCE_DIR}/python/shardopt/cli.py
            ${PROJECT_SOURCE_DIR}/python/shardopt/manual.py)
endforeach()
add_custom_target(shardopt-manual DEPENDS ${manual} ${completion})
add_dependencies(shardopt-python shardopt-manual)

# pip copies the sources itself, and makes the command.
if(SKBUILD)
  install(TARGETS shardopt-python ShardOptResearchModule
    DESTINATION shardopt COMPONENT Python)
  # Models that are planned by name.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/configs
    DESTINATION shardopt COMPONENT Python FILES_MATCHING PATTERN "*.json")
  install(FILES ${manual} DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1
    COMPONENT Python)
  install(FILES ${completion}
    DESTINATION ${SKBUILD_DATA_DIR}/share/bash-completion/completions
    COMPONENT Python)
  return()
endif()

configure_file(${PROJECT_SOURCE_DIR}/python/shardopt.in
  ${PROJECT_BINARY_DIR}/bin/shardopt @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                   WORLD_READ WORLD_EXECUTE)

if(SHARDOPT_INCLUDE_TESTS)
  enable_testing()
  # The package over a table of degrees that has one more.
  set(further ${PROJECT_BINARY_DIR}/python-further/shardopt)
  file(MAKE_DIRECTORY ${further})
  foreach(source ${sources})
    cmake_path(GET source FILENAME name)
    file(CREATE_LINK ${source} ${further}/${name} SYMBOLIC)
  endforeach()
  pybind11_add_module(shardopt-python-further MODULE NO_EXTRAS
    unittests/Search/Degrees/FurtherModule.cpp
    python/src/DegreeTable.cpp
    lib/Model/Degrees.cpp
    lib/Model/StageCut.cpp
    lib/Support/Suggest.cpp)
  set_target_properties(shardopt-python-further PROPERTIES
    OUTPUT_NAME _shardopt
    LIBRARY_OUTPUT_DIRECTORY ${further}
    CXX_VISIBILITY_PRESET hidden)
  target_include_directories(shardopt-python-further BEFORE PRIVATE
    ${PROJECT_SOURCE_DIR}/unittests/Search/Degrees/Table
    ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/python/src)
  # Of utils/requirements.txt, where ./dev test could install it.
  set(tester ${Python_EXECUTABLE})
  set(venv ${PROJECT_BINARY_DIR}/venv)
  if(EXISTS ${venv}/installed.txt
     AND EXISTS ${venv}/lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR})
    set(tester ${venv}/bin/python)
  endif()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/tests
    ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
  foreach(file ${files})
    string(REGEX REPLACE "^test_(.*)\\.py$" "\\1" name ${file})
    # What hangs ends with the stacks of its threads.
    add_test(NAME python/${name}
      COMMAND timeout --signal=ABRT 1200 ${tester} -X faulthandler
              -m unittest discover -s python/tests -t python/tests -p ${file}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(python/${name} PROPERTIES ENVIRONMENT
      "PYTHONPATH=${PROJECT_BINARY_DIR}/python;SHARDOPT_BUILD=${PROJECT_BINARY_DIR}")
  endforeach()
endif()
