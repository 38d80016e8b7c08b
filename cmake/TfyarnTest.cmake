# Tests. Every *_test.cc belongs to exactly one target; tests/CMakeLists.txt fails the configuration otherwise.
#
# Names begin with TFYARN_TEST_PREFIX, so that one CTest run over several build trees (./dev test) can tell them apart.
# Labels: `unit` (all of these), `core` (those that count for the coverage of core/), `app`, `host`, what the call adds.
set(TFYARN_TEST_PREFIX "" CACHE STRING "Begins the name of every CTest case, e.g. asan/")
# Tests wait for facts, with limits that follow how fast the machine is (tests/patience.py). This one is for a test that hangs.
set(TFYARN_TEST_TIMEOUT 1800 CACHE STRING "Seconds after which CTest ends a case")

add_custom_target(core-tests)
add_custom_target(app-tests)
add_custom_target(host-tests)

# tfyarn_case(NAME): NAME with the prefix, in the variable CASE.
macro(tfyarn_case name)
  set(CASE "${TFYARN_TEST_PREFIX}${name}")
endmacro()

# tfyarn_soak(CASE): it costs more than it finds in every run of CI. `./dev test` leaves it out, `./dev soak` has it.
function(tfyarn_soak case)
  set_property(TEST ${case} APPEND PROPERTY LABELS soak)
endfunction()

# tfyarn_test(NAME SOURCES ... LINK ... [LABELS ...]): one GoogleTest program, one CTest case per program.
function(tfyarn_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tfyarn_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${TFYARN_BATCH} UNITY_BUILD_BATCH_SIZE ${TFYARN_BATCH_SIZE})
  tfyarn_precompiled(${name} tests)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/(unit/core|golden)")
    list(APPEND ARG_LABELS core)
    add_dependencies(core-tests ${name})
  elseif(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/unit/apps")
    list(APPEND ARG_LABELS app)
    add_dependencies(app-tests ${name})
  elseif(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/unit/(wire|hosts)")
    list(APPEND ARG_LABELS host)
    add_dependencies(host-tests ${name})
  endif()
  tfyarn_case(${name})
  add_test(NAME ${CASE} COMMAND ${name})
  set_tests_properties(${CASE} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT ${TFYARN_TEST_TIMEOUT}
                                          ENVIRONMENT "TFYARN_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
  foreach(source ${ARG_SOURCES})
    get_filename_component(path ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY TFYARN_REGISTERED_TESTS ${path})
  endforeach()
endfunction()
