# Tests. Every *_test.cc belongs to exactly one target; tests/CMakeLists.txt fails the configuration otherwise.
include(GoogleTest)

# tfyarn_test(NAME SOURCES ... LINK ... [LABELS ...]): one GoogleTest program, one CTest case per program.
function(tfyarn_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tfyarn_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 300
                                          ENVIRONMENT "TFYARN_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
  foreach(source ${ARG_SOURCES})
    get_filename_component(path ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY TFYARN_REGISTERED_TESTS ${path})
  endforeach()
endfunction()
