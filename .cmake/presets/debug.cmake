# For a debugger: no optimisation.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
