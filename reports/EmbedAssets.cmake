# Script: writes OUTPUT, a C++ source that holds the bytes of a page's assets. Run at build time, when one changes.
#   cmake -DOUTPUT=assets.cc -DDIRECTORY=.../assets -DPAGE=a.html -DSTYLES=a.css -DSCRIPTS=a.js,b.js
#         -DHEADER=reports/html.h -DRESULT=Assets,BuiltInAssets,page,style,script -P EmbedAssets.cmake
# Style and script are STYLES and SCRIPTS one after the other. RESULT: the type of what is made, the function that gives it,
# and its members for page, style and script. Where the page has a policy that names the digests of script and style, a
# browser runs these and nothing else that may have come into the page.

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

# joined(FILE LIST): the files of a comma-separated list as one.
function(joined file list)
  string(REPLACE "," ";" parts "${list}")
  file(WRITE ${file} "")
  foreach(part ${parts})
    file(READ ${DIRECTORY}/${part} text)
    file(APPEND ${file} "${text}")
  endforeach()
endfunction()

set(script "${OUTPUT}.js")
joined(${script} "${SCRIPTS}")
set(style "${OUTPUT}.css")
joined(${style} "${STYLES}")
set(page "${OUTPUT}.html")
file(SHA256 ${script} script_hex)
file(SHA256 ${style} style_hex)
base64(script_sha256 ${script_hex})
base64(style_sha256 ${style_hex})
configure_file(${DIRECTORY}/${PAGE} ${page} @ONLY)

set(source "// Made from reports/assets by EmbedAssets.cmake.\n#include \"${HEADER}\"\n\nnamespace tfyarn::reports {\nnamespace {\n\n")
foreach(asset page:${page} style:${style} script:${script})
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
string(REPLACE "," ";" result "${RESULT}")
list(GET result 0 type)
list(GET result 1 function)
list(GET result 2 page_member)
list(GET result 3 style_member)
list(GET result 4 script_member)
string(APPEND source "}  // namespace\n\nconst ${type}& ${function}() {\n"
                     "  static constexpr ${type} kAssets{.${page_member} = {k_page, sizeof k_page},\n"
                     "                                  .${style_member} = {k_style, sizeof k_style},\n"
                     "                                  .${script_member} = {k_script, sizeof k_script}};\n"
                     "  return kAssets;\n}\n\n}  // namespace tfyarn::reports\n")
file(WRITE ${OUTPUT} "${source}")
