# Memory errors, leaks and undefined behaviour end the program. This build also has the fuzz
# targets, so it uses Debian's clang, for its libFuzzer.
set(CMAKE_CXX_COMPILER clang++-16 CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1" CACHE STRING "" FORCE)
set(QCM_SANITIZE "address,undefined" CACHE STRING "" FORCE)
set(QCM_FUZZ ON CACHE BOOL "" FORCE)
set(QCM_UNITY 12 CACHE STRING "" FORCE)
