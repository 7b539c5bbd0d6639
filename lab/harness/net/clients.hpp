#pragma once
// The clients of a load: many sockets on one thread. In a closed loop each client sends, waits for the whole answer,
// and sends again. A connection never has two requests under way.
//
// `paced` is an open loop: requests are planned at a fixed rate, whatever the server does. Each is sent by the client
// that has been idle longest. If no client is idle, the request waits. Its latency counts from the planned time, so
// a server that stalls pays for every request of the stall (G. Tene calls the other way "coordinated omission").
//
// The kinds:
//   http   `size` requests in one write; answered when as many responses have arrived
//   paced  one request in one write; `size` is the number of requests a second, over all connections
//   beside the same, later beside other clients, which are slow (slow_clients.hpp)
//   echo   `size` bytes; answered when as many bytes were received
//   churn  one request on a connection of its own, which the client then closes; timed from the connect
//   sink   bytes without an answer, as fast as the server takes them
//   udp    a datagram, answered by another; sent again if there is no answer for 100 ms
//   idle   connections that send once
#include <netinet/in.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "net/latencies.hpp"

namespace lab::net {

enum class kind { http, echo, churn, sink, udp, idle, paced, beside };

class slow_clients;

struct load {
  kind does = kind::http;
  std::size_t connections = 1;
  std::size_t size = 1;  // requests of one write, or bytes, or requests a second
  unsigned port = 0;
};

// The results of a period.
struct outcome {
  latencies took;              // of the writes that were answered
  std::uint64_t requests = 0;  // of sink: writes
  std::uint64_t bytes = 0;     // received; of sink: sent
  std::uint64_t lost = 0;      // datagrams
};

class clients {
 public:
  explicit clients(const load& load);
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;
  ~clients();

  // Connects all, and waits until the server has accepted them.
  void connect_all();
  std::size_t count() const { return all_.size(); }

  // From now on slow clients take part in the load.
  void add(slow_clients& slow) { slow_ = &slow; }
  // Has each client send.
  void begin();
  // Until then, and until each client was answered once.
  void run_until(std::uint64_t deadline);
  // Until each was answered once; none sends again.
  void run_once();
  // Paced: until all requests that were planned are answered; it plans no more. Else nothing.
  void drain();
  outcome take() { return std::exchange(outcome_, {}); }

 private:
  struct client {
    int fd = -1;
    bool answered = false, waits_for_room = false;
    std::size_t sent = 0, received = 0;
    std::uint64_t began = 0;
  };

  bool is_datagram() const { return load_.does == kind::udp; }
  void learn_response();
  void connect(client& one);
  void ask(client& one);
  void watch(int how, client& one, unsigned for_what);
  void turn(int timeout_ms) { turn(std::int64_t{timeout_ms} * 1'000'000); }
  void turn(std::int64_t timeout_ns);
  void plan(std::uint64_t now);
  void send_planned();
  void send(client& one);
  void send_endlessly(client& one);
  void receive(client& one);
  void complete(client& one);
  void send_lost_again();

  const load load_;
  int epoll_;
  std::string payload_;
  std::size_t expected_ = 0;    // bytes of an answer
  std::size_t unanswered_ = 0;  // clients that were never answered
  std::size_t connects_ = 0;
  bool once_ = false;
  std::vector<client> all_;
  std::uint64_t period_ns_ = 0, next_ns_ = 0;  // of planned requests
  std::deque<std::uint64_t> planned_;          // times of requests that no client has sent yet
  std::deque<client*> idle_;                   // paced: the longest idle client first
  slow_clients* slow_ = nullptr;
  outcome outcome_;
  std::array<char, 65536> room_;
};

}  // namespace lab::net
