// The one translation unit with Asio's function bodies.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
