# Which layers include neither LLVM nor MLIR: utils/check_layers.py has the table.

include_guard()

# Sets `out` to their names.
function(shardopt_std_layers out)
  get_property(layers GLOBAL PROPERTY SHARDOPT_STD_LAYERS)
  if(layers)
    set(${out} ${layers} PARENT_SCOPE)
    return()
  endif()
  set(table ${PROJECT_SOURCE_DIR}/utils/check_layers.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${table} --list-std
    OUTPUT_VARIABLE layers OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" layers "${layers}")
  set_property(GLOBAL PROPERTY SHARDOPT_STD_LAYERS ${layers})
  set(${out} ${layers} PARENT_SCOPE)
endfunction()
