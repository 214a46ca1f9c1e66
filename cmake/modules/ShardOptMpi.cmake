# The two MPIs of Debian, which lib/Execution/RuntimeMpi alone uses, each by its own
# compiler wrapper. Without one, everything else builds, and whoever asks for it
# is told what to install.
#
# Sets SHARDOPT_MPIS to a list of those found (OpenMpi, Mpich) and, for each,
# SHARDOPT_<MPI>_COMPILE and SHARDOPT_<MPI>_LINK, lists of flags, and
# SHARDOPT_<MPI>_RUN, its mpirun (or -NOTFOUND).

include_guard()

set(SHARDOPT_MPIS)

# Reads flags that a compiler wrapper prints, without the compiler itself.
function(shardopt_mpi_flags out wrapper option)
  execute_process(COMMAND ${wrapper} ${option} OUTPUT_VARIABLE printed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags NATIVE_COMMAND "${printed}")
  list(FILTER flags INCLUDE REGEX "^-")
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# shardopt_find_mpi(<name> <wrapper> <mpirun> <option that prints the compiler's
#   flags> <option that prints the linker's>)
macro(shardopt_find_mpi name wrapper run compile_option link_option)
  find_program(SHARDOPT_${name}_WRAPPER ${wrapper})
  find_program(SHARDOPT_${name}_RUN ${run})
  mark_as_advanced(SHARDOPT_${name}_WRAPPER SHARDOPT_${name}_RUN)
  if(SHARDOPT_${name}_WRAPPER)
    list(APPEND SHARDOPT_MPIS ${name})
    shardopt_mpi_flags(SHARDOPT_${name}_COMPILE ${SHARDOPT_${name}_WRAPPER} ${compile_option})
    shardopt_mpi_flags(SHARDOPT_${name}_LINK ${SHARDOPT_${name}_WRAPPER} ${link_option})
  endif()
endmacro()

shardopt_find_mpi(OpenMpi mpicc.openmpi mpirun.openmpi --showme:compile --showme:link)
shardopt_find_mpi(Mpich mpicc.mpich mpirun.mpich -compile_info -link_info)
message(STATUS "MPI: ${SHARDOPT_MPIS}")
