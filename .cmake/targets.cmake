# Functions that declare targets. A folder's libraries may only link the layers below it, as in the
# layers test.
#
# qcm_library(NAME SOURCES a.cc … DEPS pkg_base … [ASIO] [COLD [FUZZED]])  a folder's library.
# qcm_program(NAME SOURCES … DEPS … [ASIO] [COLD|TEST])  a program in build/bin.
# qcm_test(NAME SOURCES … DEPS … [ASIO])                 a Catch2 program in build/bin.
#
# ASIO: the sources are coroutines; they get Asio's declarations precompiled.
# COLD: speed does not matter; a release build optimises this code less, to compile faster, and a
#   build with sanitizers not at all.
# FUZZED: fuzz targets run this COLD code, so a build with sanitizers optimises it as usual.
# TEST: test cases; they get Catch2's and Asio's declarations precompiled, and are not optimised.

set(asio_headers
  <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/use_awaitable.hpp>
  <boost/asio/as_tuple.hpp> <boost/asio/steady_timer.hpp> <boost/asio/ip/tcp.hpp>
  <boost/asio/io_context.hpp> <boost/asio/this_coro.hpp> <boost/asio/post.hpp>
  <memory> <string> <vector> <unordered_map> <map> <functional> <optional> <chrono>)

# qcm_precompile(NAME HEADER…)  headers that targets may share with REUSE_FROM NAME.
function(qcm_precompile name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/.cmake/asio_pch.cc)
  target_link_libraries(${name} PRIVATE build_flags asio)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(QCM_CCACHE)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${pch_launcher}")
  endif()
endfunction()

qcm_precompile(asio_pch ${asio_headers})
if(QCM_FUZZ)
  target_compile_options(asio_pch PRIVATE -fsanitize=fuzzer-no-link)
endif()

# GCC 13 and newer read no precompiled header that was compiled with another -O.
if(QCM_SANITIZE OR
    (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13))
  qcm_precompile(cold_pch ${asio_headers})
  target_compile_options(cold_pch PRIVATE $<IF:$<CONFIG:Release>,-O1,-O0>)
endif()

if(QCM_BUILD_TESTS)
  qcm_precompile(test_pch ${asio_headers} <catch2/catch.hpp>)
  target_compile_options(test_pch PRIVATE -O0)
endif()

function(qcm_configure name)
  cmake_parse_arguments(arg "ASIO;COLD;FUZZED;TEST" "" "SOURCES;DEPS" ${ARGN})
  target_sources(${name} PRIVATE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE build_flags)
  if(arg_COLD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(QCM_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${QCM_UNITY})
  endif()
  if(arg_DEPS)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_link_libraries(${name} PUBLIC ${arg_DEPS})
    else()
      target_link_libraries(${name} PRIVATE ${arg_DEPS})
    endif()
  endif()
  set(pch asio_pch)
  if(arg_TEST)
    target_compile_options(${name} PRIVATE -O0)
    set(pch test_pch)
  elseif(QCM_SANITIZE AND arg_COLD AND NOT arg_FUZZED)
    target_compile_options(${name} PRIVATE -O0)
    set(pch cold_pch)
  elseif(QCM_FUZZ)
    # Coverage of the tested code only, not of test cases. tests/fuzz/CMakeLists.txt says why
    # functions have sections.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link -ffunction-sections)
  elseif(arg_COLD AND TARGET cold_pch AND NOT QCM_SANITIZE)
    set(pch cold_pch)
  endif()
  if(arg_ASIO OR arg_TEST)
    target_link_libraries(${name} PRIVATE asio)
    if(QCM_PRECOMPILE)
      target_precompile_headers(${name} REUSE_FROM ${pch})
    endif()
  endif()
endfunction()

function(qcm_library name)
  add_library(${name} STATIC)
  qcm_configure(${name} ${ARGN})
endfunction()

function(qcm_program name)
  add_executable(${name})
  qcm_configure(${name} ${ARGN})
endfunction()

function(qcm_test name)
  add_executable(${name})
  qcm_configure(${name} TEST ${ARGN})
  target_link_libraries(${name} PRIVATE catch_main)
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY QCM_UNIT_TESTS ${name})
endfunction()
