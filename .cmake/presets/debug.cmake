# For a debugger: nothing optimised away.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
