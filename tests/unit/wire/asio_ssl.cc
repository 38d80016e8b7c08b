// Boost.Asio's TLS streams, compiled once: only the raw peer of these tests speaks TLS through
// them.
#include <boost/asio/ssl/impl/src.hpp>
