#pragma once
// The clients of a load: many sockets on one thread, each of which sends, waits for the whole answer, and sends again
// (a closed loop). There is one more request under way than the server has answered on each connection, never two.
//
// The kinds:
//   http   so many requests side by side in one write; answered, when as many responses have come
//   echo   so many bytes; answered, when as many have come back
//   churn  one request on a connection of its own, which the client closes then; timed from the connect
//   sink   bytes without an answer, as fast as the server takes them
//   udp    a datagram, answered by one; sent again if there is no answer for 100 ms
//   idle   connections that send once
#include <netinet/in.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/latencies.hpp"

namespace lab::net {

enum class kind { http, echo, churn, sink, udp, idle };

struct load {
  kind does = kind::http;
  std::size_t connections = 1;
  std::size_t size = 1;  // requests of one write, or bytes
  unsigned port = 0;
};

// What came of a time.
struct outcome {
  latencies took;              // of the writes that were answered
  std::uint64_t requests = 0;  // of sink: writes
  std::uint64_t bytes = 0;     // received; of sink: sent
  std::uint64_t lost = 0;      // datagrams
};

class clients {
 public:
  explicit clients(const load& what);
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;
  ~clients();

  // Connects all, and waits until the server has accepted them.
  void connect_all();
  std::size_t count() const { return all_.size(); }

  // Has each client send.
  void begin();
  // Until then, and until each client was answered once.
  void run_until(std::uint64_t deadline);
  // Until each was answered once; none sends again.
  void run_once();
  outcome take() { return std::exchange(outcome_, {}); }

 private:
  struct client {
    int fd = -1;
    bool answered = false, waits_for_room = false;
    std::size_t sent = 0, received = 0;
    std::uint64_t began = 0;
  };

  bool is_datagram() const { return what_.does == kind::udp; }
  void learn_response();
  void connect(client& one);
  void ask(client& one);
  void watch(int how, client& one, unsigned for_what);
  void turn(int timeout_ms);
  void send(client& one);
  void send_endlessly(client& one);
  void receive(client& one);
  void complete(client& one);
  void send_lost_again();

  const load what_;
  int epoll_;
  std::string payload_;
  std::size_t expected_ = 0;    // bytes of an answer
  std::size_t unanswered_ = 0;  // clients that were never answered
  std::size_t connects_ = 0;
  bool once_ = false;
  std::vector<client> all_;
  outcome outcome_;
  std::array<char, 65536> room_;
};

}  // namespace lab::net
