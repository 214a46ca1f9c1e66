# SHARDOPT_SANITIZE compiles sanitizers into everything: what runs then ends at
# the first finding.

include_guard()

set(SHARDOPT_SANITIZE "" CACHE STRING
  "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(SHARDOPT_SANITIZE)
  # Neither LLVM nor MLIR has type information, which `vptr` needs.
  add_compile_options(-fsanitize=${SHARDOPT_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SHARDOPT_SANITIZE})
endif()

# shardopt_sanitize(<program>): the options of the sanitizers, for whoever runs it.
function(shardopt_sanitize program)
  if(SHARDOPT_SANITIZE)
    target_sources(${program} PRIVATE
      ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.c)
  endif()
endfunction()
