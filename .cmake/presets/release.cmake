# The optimised build for users. Files are compiled together, because headers take most of the time.
set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "" FORCE)
set(QCM_UNITY 12 CACHE STRING "" FORCE)
