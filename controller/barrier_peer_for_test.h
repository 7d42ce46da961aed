// The other end of a connection to the drain barrier.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_PEER_FOR_TEST_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_PEER_FOR_TEST_H_

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <string>

namespace controller {

// Raises the limit if need be and allowed.
inline bool MayOpenFiles(rlim_t count) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur >= count) return true;
  files.rlim_cur = std::min(files.rlim_max, count);
  return setrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= count;
}

// One for all: each has files of its own.
inline boost::asio::io_context& PeerContext() {
  static boost::asio::io_context context;
  return context;
}

// A connection to 127.0.0.1 that blocks.
class Peer {
 public:
  explicit Peer(int port) : socket_(PeerContext()) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  }
  Peer(int port, const std::string& bytes) : Peer(port) { Send(bytes); }

  void Send(const std::string& bytes) {
    boost::system::error_code ignored;  // the server may have answered and closed
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
  }
  // Everything until the server closes.
  std::string ReadAll() {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(all), error);
    return all;
  }
  void Close() { socket_.close(); }

 private:
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_PEER_FOR_TEST_H_
