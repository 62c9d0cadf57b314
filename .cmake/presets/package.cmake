# The programs of a release: as release.cmake, with debug information, which is packed separately.
# The same source gives the same bytes in any folder.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(maps "-ffile-prefix-map=${root}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=./build/package")
set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g ${maps}" CACHE STRING "" FORCE)
set(QCM_UNITY 12 CACHE STRING "" FORCE)
# With a precompiled header, GCC derives numbers of temporaries from addresses, which vary.
set(QCM_PRECOMPILE OFF CACHE BOOL "" FORCE)
# ccache would write paths relative to the build folder into the debug information.
set(QCM_CCACHE "" CACHE STRING "" FORCE)
set(QCM_BUILD_TESTS OFF CACHE BOOL "" FORCE)
