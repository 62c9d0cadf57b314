# Data races end the program.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1" CACHE STRING "")
set(QCM_SANITIZE "thread" CACHE STRING "")
set(QCM_UNITY 12 CACHE STRING "")
