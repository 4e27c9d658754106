// Beast's own code, compiled once (BOOST_BEAST_SEPARATE_COMPILATION); http and evm link it.
#include <boost/beast/src.hpp>
