# Flags and targets. Every folder of the architecture is one target; it links only what its row there allows.
add_library(tfyarn_flags INTERFACE)
target_include_directories(tfyarn_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tfyarn_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              # Designated initialisers name what differs; every member has a default.
                                              -Wno-missing-field-initializers)
if(TFYARN_WERROR)
  target_compile_options(tfyarn_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 inside std::variant and std::string at -O2.
  target_compile_options(tfyarn_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overread)
endif()
if(TFYARN_SANITIZE)
  target_compile_options(tfyarn_flags INTERFACE -fsanitize=${TFYARN_SANITIZE} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_link_options(tfyarn_flags INTERFACE -fsanitize=${TFYARN_SANITIZE})
endif()
if(TFYARN_COVERAGE)
  target_compile_options(tfyarn_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(tfyarn_flags INTERFACE --coverage)
endif()

# tfyarn_library(NAME SOURCES ... LINK ...): a static library of one folder.
function(tfyarn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tfyarn_flags ${ARG_LINK})
endfunction()
