# Debian 12's packages (.ci/install-packages.sh lists them); each is linked by the one folder that
# may use it.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(gflags REQUIRED)
find_package(glog REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_path(QCM_RAPIDJSON_INCLUDE rapidjson/reader.h REQUIRED)

# Asio and Beast are compiled once, here, instead of in every file that names them. The precompiled
# header carries their declarations to the targets that ask for it with qcm_use_asio().
add_library(asio STATIC ${CMAKE_SOURCE_DIR}/.cmake/asio.cc)
target_compile_definitions(asio PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_include_directories(asio SYSTEM PUBLIC ${Boost_INCLUDE_DIRS})
target_link_libraries(asio PUBLIC Threads::Threads OpenSSL::SSL OpenSSL::Crypto)
