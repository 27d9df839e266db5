# Asio and Beast, each compiled once: a file that instantiates all of both takes tens of seconds under sanitizers.
#   plimsoll::awaitable   headers alone, for ports that name boost::asio::awaitable
#   plimsoll::asio        with what rooms link that do I/O
find_package(Boost 1.81 REQUIRED)

add_library(plimsoll_awaitable INTERFACE)
add_library(plimsoll::awaitable ALIAS plimsoll_awaitable)
target_link_libraries(plimsoll_awaitable INTERFACE Boost::headers Threads::Threads)
# Nothing here is for programs that were written against older Asio; io_uring and the like stay off.
target_compile_definitions(plimsoll_awaitable INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED)

add_library(plimsoll_asio STATIC cmake/boost/asio.cpp cmake/boost/beast.cpp)
add_library(plimsoll::asio ALIAS plimsoll_asio)
target_link_libraries(plimsoll_asio PUBLIC plimsoll::awaitable OpenSSL::SSL OpenSSL::Crypto)
target_compile_features(plimsoll_asio PUBLIC cxx_std_20)
