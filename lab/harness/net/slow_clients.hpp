#pragma once
// Clients that are slow in each phase of a connection, beside the paced clients of a load. A quarter of them sends
// nothing, a quarter a head that never ends, a quarter a body that never ends, and a quarter sends requests until
// the server reads no more, and hardly reads the answers. Each sends or reads a byte ten times a second. If a server
// closes a connection, its client connects again.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab::net {

class slow_clients {
 public:
  slow_clients(std::size_t count, unsigned port);
  slow_clients(const slow_clients&) = delete;
  slow_clients& operator=(const slow_clients&) = delete;
  ~slow_clients();

  // Connects all, a few at a time, so that no listener drops one, and fills buffers with answers that are not read.
  void connect_all();
  // The clients that are due send or read their byte.
  void advance(std::uint64_t now);

  std::size_t count() const { return all_.size(); }
  // How often a server has closed a connection.
  std::uint64_t closed() const { return closed_; }

 private:
  enum class phase { first_byte, head, body, answer };
  struct client {
    int fd = -1;
    phase is_slow_in = phase::first_byte;
    std::size_t sent = 0;  // bytes of the block of requests, if it is slow to read the answers
  };

  void connect(client& client);
  void fill_buffers();
  bool is_open_after_step(client& client);

  unsigned port_;
  std::vector<client> all_;
  std::size_t next_ = 0;  // the client that is due next
  std::uint64_t due_ns_ = 0, period_ns_;
  std::uint64_t closed_ = 0;
};

}  // namespace lab::net
