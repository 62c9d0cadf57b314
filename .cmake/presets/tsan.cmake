# Data races end the program. Without optimisation this compiles in half of the time. It runs nearly
# as fast, because the scenarios mostly wait.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1" CACHE STRING "" FORCE)
set(QCM_SANITIZE "thread" CACHE STRING "" FORCE)
set(QCM_UNITY 12 CACHE STRING "" FORCE)
