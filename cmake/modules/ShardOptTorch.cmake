# LibTorch, which lib/AgentTorch alone uses. Without it everything else builds,
# and the searchers that need it say so.
#
#   SHARDOPT_ENABLE_TORCH   AUTO (if it is found), ON (or fail) or OFF
#
# Sets SHARDOPT_HAVE_TORCH and, where that is on, what find_package(Torch) sets.

include_guard()

set(SHARDOPT_ENABLE_TORCH AUTO CACHE STRING
  "Build the networks of the searchers that learn: AUTO, ON or OFF")
set_property(CACHE SHARDOPT_ENABLE_TORCH PROPERTY STRINGS AUTO ON OFF)

set(SHARDOPT_HAVE_TORCH OFF)
set(CMAKE_MESSAGE_LOG_LEVEL WARNING) # its package reports what it finds itself
if(SHARDOPT_ENABLE_TORCH STREQUAL "AUTO")
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
