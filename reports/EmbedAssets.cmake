# Script: writes OUTPUT, a C++ source that holds the bytes of the page's assets. Run at build time, when one changes.
#   cmake -DOUTPUT=assets.cc -DDIRECTORY=.../assets -P EmbedAssets.cmake
set(source "// Made from reports/assets by EmbedAssets.cmake.\n#include \"reports/html.h\"\n\nnamespace tfyarn::reports {\nnamespace {\n\n")
foreach(asset page:report.html style:report.css script:report.js)
  string(REPLACE ":" ";" pair ${asset})
  list(GET pair 0 name)
  list(GET pair 1 file)
  file(READ ${DIRECTORY}/${file} bytes HEX)
  # Characters one by one: a string literal of that length is more than a compiler need take.
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND source "// ${file}\nconstexpr char k_${name}[] = {\n${bytes}};\n\n")
endforeach()
string(APPEND source "}  // namespace\n\nconst Assets& BuiltInAssets() {\n"
                     "  static constexpr Assets kAssets{.page = {k_page, sizeof k_page},\n"
                     "                                  .style = {k_style, sizeof k_style},\n"
                     "                                  .script = {k_script, sizeof k_script}};\n"
                     "  return kAssets;\n}\n\n}  // namespace tfyarn::reports\n")
file(WRITE ${OUTPUT} "${source}")
