// Asio's TLS code over OpenSSL, compiled once.
#include <boost/asio/ssl/impl/src.hpp>
