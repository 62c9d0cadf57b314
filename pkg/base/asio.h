#pragma once

// The few names of Asio that our own headers use.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace base {
namespace asio = boost::asio;
template <typename T>
using Task = boost::asio::awaitable<T>;
// Waits in a coroutine; the error is the first of the returned tuple instead of an exception.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);
}  // namespace base
