// The compiled half of Boost.Asio and Boost.Beast: everything else sees their headers only.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
