# What users run: optimised. Files are compiled together, because headers take most of the time.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 --param large-unit-insns=1000000" CACHE STRING "")
set(QCM_UNITY 12 CACHE STRING "")
