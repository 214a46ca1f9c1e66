# shardopt_table_entries(<table> <macro> <variable>)
#
# Sets <variable> to the entries of a table, `<macro>(...` up to the parenthesis
# that ends them. The build is configured again where the table changes.
function(shardopt_table_entries table macro variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(READ ${table} text)
  # Entries start a line; the comment above them does not.
  string(REGEX MATCHALL "\n${macro}\\([^()]*" entries "${text}")
  set(${variable} "${entries}" PARENT_SCOPE)
endfunction()
