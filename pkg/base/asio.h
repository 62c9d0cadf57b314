#pragma once

// The few names of Asio that our own headers use.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

namespace base {
namespace asio = boost::asio;
template <typename T>
using Task = boost::asio::awaitable<T>;
}  // namespace base
