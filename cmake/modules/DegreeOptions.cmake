include(TableEntries)

# shardopt_degree_options(<table> <output>)
#
# Writes what TableGen needs to know of the degrees: `DegreeTable`, a list with
# the name, the summary and the default values of each entry of Degrees.def, in
# its order.
function(shardopt_degree_options table output)
  shardopt_table_entries(${table} SHARDOPT_DEGREE entries)
  set(degrees "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE
      ".*SHARDOPT_DEGREE\\(([a-z][a-z0-9]*), [A-Za-z0-9]+,[ \n]*(\"[^\"]*\"),[ \n]*(\"[^\"]*\").*"
      "  DegreeEntry<\"\\1\", \\2, \\3>" entry "${entry}")
    list(APPEND degrees "${entry}")
  endforeach()
  list(JOIN degrees ",\n" degrees)
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Made of Degrees.def.
class DegreeEntry<string theName, string theSummary, string theValues> {
  string name = theName;
  string summary = theSummary;
  string values = theValues;
}
defvar DegreeTable = [
@degrees@
];
" @ONLY)
endfunction()
