# Flags and targets. Every folder of the architecture is one target; it links only what its row there allows.

# For a build from nothing: half the time. The sources of a folder are compiled in batches, which share what they include and
# instantiate. TFYARN_PCH: the headers that most include are compiled once for all (clang; g++ gains nothing by that). After a
# change of a source the build then compiles its whole batch, and ccache shares nothing with another checkout: `./dev` leaves this
# off where there is ccache. A source still includes what it uses, and names that no other of its folder uses; trees without this
# (dev, tsan, fuzz) and clang-tidy tell of the former, the test `batches` of the latter.
option(TFYARN_BATCH "Compile sources in batches" OFF)
set(TFYARN_BATCH_SIZE 8 CACHE STRING "Sources in a batch")
option(TFYARN_PCH "Compile the headers that most sources include once for all" OFF)
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
  if(TFYARN_BATCH)
    # In a batch every source is an included file, where an anonymous namespace would be a mistake.
    target_compile_options(tfyarn_flags INTERFACE -Wno-subobject-linkage)
  endif()
  # A program gets whole objects of a library, batches above all: without this an agent is a third larger, in memory too, and
  # loads libraries that nothing in it calls.
  target_compile_options(tfyarn_flags INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(tfyarn_flags INTERFACE -Wl,--gc-sections,--as-needed)
endif()
if(TFYARN_SANITIZE)
  # Checked builds also compare what an ApplicationMaster decides by with what it has stored, after each step.
  target_compile_definitions(tfyarn_flags INTERFACE TFYARN_CHECKED)
  target_compile_options(tfyarn_flags INTERFACE -fsanitize=${TFYARN_SANITIZE} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  if(TFYARN_NO_SANITIZE)
    # Checks of every access take a fifth of the time of compiling; a use of null ends a program under ASan anyway. The preset `fuzz`
    # has them all, and ./dev soak runs the unit tests there.
    target_compile_options(tfyarn_flags INTERFACE -fno-sanitize=${TFYARN_NO_SANITIZE})
  endif()
  target_link_options(tfyarn_flags INTERFACE -fsanitize=${TFYARN_SANITIZE})
endif()
if(TFYARN_COVERAGE)
  target_compile_options(tfyarn_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(tfyarn_flags INTERFACE --coverage)
endif()

if(TFYARN_PCH)
  foreach(kind sources tests)
    add_library(tfyarn_pch_${kind} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled/empty.cc)
    target_link_libraries(tfyarn_pch_${kind} PRIVATE tfyarn_flags fmt::fmt)
    target_precompile_headers(tfyarn_pch_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.h)
  endforeach()
  target_link_libraries(tfyarn_pch_tests PRIVATE GTest::gmock)
endif()

# tfyarn_precompiled(TARGET KIND): sources or tests.
function(tfyarn_precompiled target kind)
  if(TFYARN_PCH)
    target_precompile_headers(${target} REUSE_FROM tfyarn_pch_${kind})
  endif()
endfunction()

# tfyarn_library(NAME SOURCES ... LINK ... [APART ...]): a static library of one folder. APART are those of its sources that need
# a shared library which not every program of the folder's others needs: in a batch with them, each such program would load it,
# as a linker sees who needs what before it leaves unused sections out.
function(tfyarn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;APART" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tfyarn_flags ${ARG_LINK})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${TFYARN_BATCH} UNITY_BUILD_BATCH_SIZE ${TFYARN_BATCH_SIZE})
  if(ARG_APART)
    set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  tfyarn_precompiled(${name} sources)
endfunction()

# tfyarn_camel_case(OUT NAME): x_y is XY, as C++ names what the file x_y.cc defines.
function(tfyarn_camel_case out name)
  string(REPLACE "_" ";" words ${name})
  set(camel "")
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND camel ${first}${rest})
  endforeach()
  set(${out} ${camel} PARENT_SCOPE)
endfunction()
