// Asio's own code, compiled once (BOOST_ASIO_SEPARATE_COMPILATION) and not in every source.
#include <boost/asio/impl/src.hpp>
