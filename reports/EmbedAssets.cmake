# Script: writes OUTPUT, a C++ source that holds the bytes of the page's assets. Run at build time, when one changes.
#   cmake -DOUTPUT=assets.cc -DDIRECTORY=.../assets -DSCRIPTS=a.js,b.js -P EmbedAssets.cmake
# The script is SCRIPTS one after the other. The page's policy names the digests of script and style: a browser runs these
# and nothing else that may have come into the page.

# base64(OUT HEX): the text form that a Content-Security-Policy wants, of bytes given in hexadecimal.
function(base64 out hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(LENGTH ${hex} digits)
  set(text "")
  foreach(at RANGE 0 ${digits} 6)
    string(SUBSTRING "${hex}000000" ${at} 6 group)
    math(EXPR value "0x${group}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${value} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  # 32 bytes are 43 letters and one sign of padding.
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" scripts "${SCRIPTS}")
set(script "${OUTPUT}.js")
file(WRITE ${script} "")
foreach(file ${scripts})
  file(READ ${DIRECTORY}/${file} text)
  file(APPEND ${script} "${text}")
endforeach()
set(page "${OUTPUT}.html")
file(SHA256 ${script} script_hex)
file(SHA256 ${DIRECTORY}/report.css style_hex)
base64(script_sha256 ${script_hex})
base64(style_sha256 ${style_hex})
configure_file(${DIRECTORY}/report.html ${page} @ONLY)

set(source "// Made from reports/assets by EmbedAssets.cmake.\n#include \"reports/html.h\"\n\nnamespace tfyarn::reports {\nnamespace {\n\n")
foreach(asset page:${page} style:${DIRECTORY}/report.css script:${script})
  string(FIND ${asset} ":" colon)
  string(SUBSTRING ${asset} 0 ${colon} name)
  math(EXPR colon "${colon} + 1")
  string(SUBSTRING ${asset} ${colon} -1 file)
  file(READ ${file} bytes HEX)
  # Characters one by one: a string literal of that length is more than a compiler need take.
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND source "constexpr char k_${name}[] = {\n${bytes}};\n\n")
endforeach()
string(APPEND source "}  // namespace\n\nconst Assets& BuiltInAssets() {\n"
                     "  static constexpr Assets kAssets{.page = {k_page, sizeof k_page},\n"
                     "                                  .style = {k_style, sizeof k_style},\n"
                     "                                  .script = {k_script, sizeof k_script}};\n"
                     "  return kAssets;\n}\n\n}  // namespace tfyarn::reports\n")
file(WRITE ${OUTPUT} "${source}")
