# For tests/fuzz: Debian's clang and its libFuzzer, with what makes mistakes loud.
set(CMAKE_CXX_COMPILER clang++-16 CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1" CACHE STRING "")
set(QCM_SANITIZE "address,undefined" CACHE STRING "")
set(QCM_FUZZ ON CACHE BOOL "")
