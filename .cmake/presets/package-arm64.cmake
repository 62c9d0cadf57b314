# package.cmake for arm64, compiled on amd64 against QCM_SYSROOT, a root made by .ci/sysroot.sh.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(CMAKE_TOOLCHAIN_FILE "${CMAKE_CURRENT_LIST_DIR}/../arm64.cmake" CACHE FILEPATH "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE} -ffile-prefix-map=$ENV{QCM_SYSROOT}="
  CACHE STRING "" FORCE)
# The cross compiler looks for mold under another name.
set(QCM_MOLD "" CACHE STRING "" FORCE)
