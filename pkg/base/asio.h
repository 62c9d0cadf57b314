#pragma once

// The few Asio names that our own headers use.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace base {
namespace asio = boost::asio;
template <typename T>
using Task = boost::asio::awaitable<T>;
// Completion token for a coroutine: the error is the first element of the returned tuple; nothing
// is thrown.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);
}  // namespace base
