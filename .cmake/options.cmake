# Compiler settings shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(QCM_PRECOMPILE "Share precompiled headers; off for tools that cannot read GCC's" ON)
set(QCM_UNITY 0 CACHE STRING "How many files of a target are compiled as one; 0: each alone")
option(QCM_BUILD_TESTS "Build unit, e2e and bench programs" ON)
option(QCM_FUZZ "Build the targets of tests/fuzz for libFuzzer (preset asan)" OFF)
set(QCM_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(ignored_by_sanitizers ${CMAKE_SOURCE_DIR}/tests/fuzz/sanitizer-ignore.txt)
find_program(QCM_CCACHE ccache)
if(QCM_CCACHE)
  # With this sloppiness ccache can reuse objects compiled with a precompiled header.
  set(settings CCACHE_PCH_EXTSUM=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(QCM_FUZZ)
    list(APPEND settings CCACHE_EXTRAFILES=${ignored_by_sanitizers})
  endif()
  # An object from another folder will do, but not clang's precompiled header.
  set(anywhere CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${anywhere} ${QCM_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(anywhere "")
    # CMake also names the header that was precompiled, by a path that ccache does not shorten.
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  endif()
  set(pch_launcher bash ${CMAKE_SOURCE_DIR}/.cmake/compile_pch.sh
    ${CMAKE_COMMAND} -E env ${settings} ${anywhere} ${QCM_CCACHE})
  # So that __FILE__ is the same in any folder.
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=./)
endif()

add_library(build_flags INTERFACE)
target_compile_options(build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # Designated initialisers only name members that differ from the default.
  -Wno-missing-field-initializers
  -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these wrongly inside coroutine frames and in std::string, depending on what it
  # inlines (GCC bug 105651). The address sanitizer finds real mistakes of this kind.
  target_compile_options(build_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict
    -Wno-mismatched-new-delete -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  # Fewer garbage collections inside GCC: saves 3 to 8 % of the time for some memory.
  add_compile_options("SHELL:--param ggc-min-expand=1000" "SHELL:--param ggc-min-heapsize=1048576")
  # When files are compiled together, every anonymous namespace is in an included file.
  if(QCM_UNITY)
    target_compile_options(build_flags INTERFACE -Wno-subobject-linkage)
    # GCC would inline less in a large unit: a review took a tenth more instructions.
    add_compile_options("SHELL:--param large-unit-insns=1000000")
  endif()
endif()
target_include_directories(build_flags INTERFACE ${CMAKE_SOURCE_DIR})
find_program(QCM_MOLD mold)
if(QCM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
if(QCM_SANITIZE)
  add_compile_options(-fsanitize=${QCM_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QCM_SANITIZE})
  # GCC warns that ThreadSanitizer does not model atomic_thread_fence, which Asio uses for its
  # reference counts.
  if(QCM_SANITIZE STREQUAL "thread")
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(QCM_FUZZ)
  # The time stamp in a precompiled header would prevent ccache hits. So would an absolute path in
  # this option, which ccache does not know; it hashes the file by CCACHE_EXTRAFILES.
  cmake_path(RELATIVE_PATH ignored_by_sanitizers BASE_DIRECTORY ${CMAKE_BINARY_DIR}
    OUTPUT_VARIABLE ignored_path)
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp" -fsanitize-ignorelist=${ignored_path})
endif()
