include(TableEntries)

# shardopt_request_options(<table> <former names> <output>)
#
# Writes what TableGen needs to know of the numbers of requests: `RequestTable`,
# a list with the name, as options spell it, and the summary of each entry of
# RequestFields.def, in its order, and `FormerRequestTable`, the same of
# FormerRequestNames.def.
function(shardopt_request_options table former_names output)
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
  shardopt_table_entries(${former_names} SHARDOPT_FORMER_REQUEST_NAME entries)
  set(formers "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE
      ".*NAME\\(([a-z_]+), ([A-Za-z]+),[ \n]*([a-z_]+).*" "\\1;\\2;\\3" parts "${entry}")
    string(REPLACE "_" "-" parts "${parts}")
    list(GET parts 0 name)
    list(GET parts 1 member)
    list(GET parts 2 current)
    list(APPEND formers
      "  RequestEntry<\"${name}\", \"former${member}\", \"Former name of ${current}\">")
  endforeach()
  list(JOIN formers ",\n" formers)
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Made of RequestFields.def and FormerRequestNames.def.
class RequestEntry<string theName, string theMember, string theSummary> {
  string name = theName;
  string member = theMember;
  string summary = theSummary;
}
defvar RequestTable = [
@fields@
];
defvar FormerRequestTable = [
@formers@
];
" @ONLY)
endfunction()
