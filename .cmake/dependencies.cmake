# Debian's packages (.ci/install-packages.sh lists them). Each is linked only by the one folder
# that may use it.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(gflags REQUIRED)
find_package(glog REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_library(QCM_JEMALLOC_LIBRARY jemalloc_pic REQUIRED)
find_path(QCM_RAPIDJSON_INCLUDE rapidjson/reader.h REQUIRED)

# Asio is compiled once, here, instead of in every file that uses it. The targets declared with ASIO
# get its declarations from the precompiled header. Only two files use Beast.
add_library(asio STATIC ${CMAKE_SOURCE_DIR}/.cmake/asio.cc)
target_compile_definitions(asio PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_DATE_TIME)
target_include_directories(asio SYSTEM PUBLIC ${Boost_INCLUDE_DIRS})
target_link_libraries(asio PUBLIC Threads::Threads OpenSSL::SSL OpenSSL::Crypto)
