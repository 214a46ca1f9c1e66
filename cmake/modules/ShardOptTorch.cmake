# LibTorch, which lib/Search/AgentTorch alone uses. Without it everything else builds,
# and the searchers that need it say so.
#
#   SHARDOPT_ENABLE_TORCH   AUTO (if it is found), ON (or fail) or OFF
#   CMAKE_PREFIX_PATH       may name the LibTorch of PyPI's wheel, by what Python
#                           says is torch.utils.cmake_prefix_path
#
# Sets SHARDOPT_HAVE_TORCH and, where that is on, TORCH_LIBRARY and TORCH_LIBRARIES.

include_guard()

set(SHARDOPT_ENABLE_TORCH AUTO CACHE STRING
  "Build the networks of the searchers that learn: AUTO, ON or OFF")
set_property(CACHE SHARDOPT_ENABLE_TORCH PROPERTY STRINGS AUTO ON OFF)

# The package file of a wheel is of no use: it asks for the CUDA toolkit that the
# wheel was made with, and takes libc10.so from wherever the system has one. The
# libraries are enough, those for CPUs: the others need all of CUDA's at run time.
function(shardopt_torch_of_wheel found)
  set(${found} OFF PARENT_SCOPE)
  find_path(config TorchConfig.cmake PATHS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES Torch
    NO_DEFAULT_PATH NO_CACHE)
  cmake_path(SET package NORMALIZE "${config}/../../..")
  if(NOT config OR NOT EXISTS ${package}/__init__.py)
    return()
  endif()
  foreach(library torch_cpu c10)
    find_library(${library} ${library} PATHS ${package}/lib REQUIRED NO_DEFAULT_PATH NO_CACHE)
  endforeach()
  add_library(torch_wheel INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch_wheel SYSTEM INTERFACE
    ${package}/include ${package}/include/torch/csrc/api/include)
  target_compile_features(torch_wheel INTERFACE cxx_std_20)
  target_link_libraries(torch_wheel INTERFACE ${torch_cpu} ${c10})
  set(TORCH_LIBRARY ${torch_cpu} PARENT_SCOPE)
  set(TORCH_LIBRARIES torch_wheel PARENT_SCOPE)
  set(${found} ON PARENT_SCOPE)
endfunction()

set(SHARDOPT_HAVE_TORCH OFF)
if(SHARDOPT_ENABLE_TORCH)
  shardopt_torch_of_wheel(SHARDOPT_HAVE_TORCH)
endif()
set(CMAKE_MESSAGE_LOG_LEVEL WARNING) # its package reports what it finds itself
if(SHARDOPT_HAVE_TORCH)
elseif(SHARDOPT_ENABLE_TORCH STREQUAL "AUTO")
  find_package(Torch QUIET)
  set(SHARDOPT_HAVE_TORCH ${Torch_FOUND})
elseif(SHARDOPT_ENABLE_TORCH)
  find_package(Torch REQUIRED)
  set(SHARDOPT_HAVE_TORCH ON)
endif()
unset(CMAKE_MESSAGE_LOG_LEVEL)
if(SHARDOPT_HAVE_TORCH)
  message(STATUS "LibTorch: ${TORCH_LIBRARY}")
else()
  message(STATUS "LibTorch: none, without the networks of the searchers that learn")
endif()
