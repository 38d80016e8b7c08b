// Boost.Asio, compiled once: every other file sees its declarations only.
#include <boost/asio/impl/src.hpp>
