# sluice_unit_test(<name> SOURCES ... [LIBRARIES ...]): one doctest program of a folder, registered with CTest.
#
# The shared main is tests/unit/main.cpp. A test that hangs is a failure, so every program has a time limit.
function(sluice_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "sluice_unit_test(${name} SOURCES ... [LIBRARIES ...]): got '${ARGN}'")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE sluice_unit_main sluice_flags ${arg_LIBRARIES})
  # Where spec/ is, for tests that read it.
  target_compile_definitions(${name} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS unit)
endfunction()
