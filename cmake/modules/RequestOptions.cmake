include(TableEntries)

# shardopt_request_options(<table> <output>)
#
# Writes what TableGen needs to know of the numbers of requests: `RequestTable`,
# a list with the name, as options spell it, and the summary of each entry of
# RequestFields.def, in its order.
function(shardopt_request_options table output)
  shardopt_table_entries(${table} SHARDOPT_REQUEST_FIELD entries)
  set(fields "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE
      ".*FIELD\\(([a-z_]+), ([A-Za-z]+),.*,[ \n]*(\"[^\"]*\").*"
      "\\1;\\2;\\3" parts "${entry}")
    list(GET parts 0 name)
    list(GET parts 1 member)
    list(GET parts 2 summary)
    string(REPLACE "_" "-" name "${name}")
    list(APPEND fields "  RequestEntry<\"${name}\", \"request${member}\", ${summary}>")
  endforeach()
  list(JOIN fields ",\n" fields)
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Made of RequestFields.def.
class RequestEntry<string theName, string theMember, string theSummary> {
  string name = theName;
  string member = theMember;
  string summary = theSummary;
}
defvar RequestTable = [
@fields@
];
" @ONLY)
endfunction()
