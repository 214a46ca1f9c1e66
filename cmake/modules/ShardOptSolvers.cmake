# The exact solvers that lib/Solvers/Schedule uses where they are. Without one, everything
# else builds, and whoever asks for it is told what to install.
#
# Sets SHARDOPT_CADICAL and SHARDOPT_CBC, lists of libraries to link, empty where
# there is none, and SHARDOPT_SCHEDULE_SOLVERS, the names of those that are there.

include_guard()

option(SHARDOPT_ENABLE_CADICAL "Use CaDiCaL (libcadical-dev) where it is found" ON)
option(SHARDOPT_ENABLE_CBC "Use CBC (coinor-libcbc-dev) where it is found" ON)

set(SHARDOPT_CADICAL)
find_path(SHARDOPT_CADICAL_INCLUDE cadical.hpp)
find_library(SHARDOPT_CADICAL_LIBRARY cadical)
mark_as_advanced(SHARDOPT_CADICAL_INCLUDE SHARDOPT_CADICAL_LIBRARY)
if(SHARDOPT_ENABLE_CADICAL AND SHARDOPT_CADICAL_INCLUDE AND SHARDOPT_CADICAL_LIBRARY)
  set(SHARDOPT_CADICAL ${SHARDOPT_CADICAL_LIBRARY})
endif()

set(SHARDOPT_CBC)
find_path(SHARDOPT_CBC_INCLUDE coin/CbcModel.hpp)
mark_as_advanced(SHARDOPT_CBC_INCLUDE)
if(SHARDOPT_ENABLE_CBC AND SHARDOPT_CBC_INCLUDE)
  foreach(library Cbc CbcSolver Cgl OsiClp Clp Osi CoinUtils)
    find_library(SHARDOPT_${library}_LIBRARY ${library})
    mark_as_advanced(SHARDOPT_${library}_LIBRARY)
    list(APPEND SHARDOPT_CBC ${SHARDOPT_${library}_LIBRARY})
  endforeach()
  if(SHARDOPT_CBC MATCHES "NOTFOUND")
    set(SHARDOPT_CBC)
  endif()
endif()
set(SHARDOPT_SCHEDULE_SOLVERS)
if(SHARDOPT_CADICAL)
  list(APPEND SHARDOPT_SCHEDULE_SOLVERS cadical)
endif()
if(SHARDOPT_CBC)
  list(APPEND SHARDOPT_SCHEDULE_SOLVERS cbc)
endif()
message(STATUS "CaDiCaL: ${SHARDOPT_CADICAL}")
message(STATUS "CBC: ${SHARDOPT_CBC}")
