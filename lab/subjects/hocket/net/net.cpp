// hocket's servers of the page `net`, from one source: tasks (LAB_TASK) or fibers, by tcp::serve. "-loop" systems have
// a loop and a listener for each worker, and the listeners share a port; "-runtime" systems have one runtime.
#include <hocket/net.hpp>
#include <hocket/runtime/runtime.hpp>

#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "../kind.hpp"
#include "net/server.hpp"

namespace {

using namespace lab::net;
using hocket::tcp::stream;
namespace udp = hocket::udp;

// The clients take as many fds as there are.
constexpr std::size_t no_limit = hocket::tcp::serve_options::unlimited;

lab::coroutine http(stream peer) {
  request_buffer requests;
  for (;;) {
    const auto read = LAB_AWAIT(peer.read_some(requests.room()));
    if (!read || *read == 0) LAB_END;
    const std::string_view answers = requests.answers(*read);
    if (!answers.empty() && !LAB_AWAIT(peer.write_all(answers))) LAB_END;
  }
}

lab::coroutine echo(stream peer) {
  std::array<char, echo_room> bytes;
  for (;;) {
    const auto read = LAB_AWAIT(peer.read_some(bytes));
    if (!read || *read == 0) LAB_END;
    if (!LAB_AWAIT(peer.write_all(std::span(bytes.data(), *read)))) LAB_END;
  }
}

// The buffer is on the heap: a fiber's stack need not have room for it.
lab::coroutine sink(stream peer) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(sink_room);
  for (;;) {
    const auto read = LAB_AWAIT(peer.read_some(std::span(bytes.get(), sink_room)));
    if (!read || *read == 0) LAB_END;
  }
}

// Datagrams in batches: one system call receives them, one sends them back.
lab::coroutine echo_datagrams(udp::socket door) {
  std::vector<std::array<char, datagram_room>> rooms(datagram_batch);
  std::vector<udp::datagram> batch, answers;
  for (auto& room : rooms) batch.emplace_back(hocket::mutable_buffer(room));
  for (;;) {
    const auto got = LAB_AWAIT(door.receive_batch(batch));
    if (!got) LAB_END;
    answers.clear();
    for (std::size_t i = 0; i < *got; ++i)
      answers.emplace_back(hocket::const_buffer(batch[i].bytes()), batch[i].address());
    for (std::size_t sent = 0; sent < *got;) {
      const auto more = LAB_AWAIT(door.send_batch(std::span(answers).subspan(sent)));
      if (!more) LAB_END;
      sent += *more;
    }
  }
}

constexpr auto handler_of(mode does) { return does == mode::http ? http : does == mode::echo ? echo : sink; }

hocket::socket_address address(unsigned port) {
  return hocket::socket_address::loopback_v4(static_cast<std::uint16_t>(port));
}

// Returns the port.
template <class Where>
unsigned open_datagrams(Where& where, unsigned port) {
  auto door = udp::socket::bind(address(port), {.reuse_port = true}).value();
  port = door.local_address().port();
  hocket::spawn(where, echo_datagrams, std::move(door));
  return port;
}

// A loop on a thread of its own.
class loop_thread {
 public:
  loop_thread(mode does, unsigned port) {
    if (does == mode::udp) {
      port_ = open_datagrams(loop_, port);
      return;
    }
    server_ = hocket::tcp::serve(loop_, address(port), {.listen = {.reuse_port = true}, .max_connections = no_limit},
                                 handler_of(does))
                  .value();
    port_ = server_->local_address().port();
  }
  unsigned port() const { return port_; }
  void run() {
    if (server_) server_->run_until(SIGTERM);
    else loop_.run();
  }

 private:
  hocket::loop loop_;
  std::optional<hocket::tcp::server> server_;
  unsigned port_ = 0;
};

void serve_by_loops(const orders& told) {
  std::vector<std::unique_ptr<loop_thread>> loops;
  for (std::size_t i = 0; i < told.workers; ++i)
    loops.push_back(std::make_unique<loop_thread>(told.does, i ? loops[0]->port() : 0));
  ready(loops[0]->port());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < told.workers; ++i) others.emplace_back([&, i] { loops[i]->run(); });
  loops[0]->run();
  for (auto& thread : others) thread.join();
}

void serve_by_runtime(const orders& told) {
  hocket::runtime runtime({.workers = told.workers});
  if (told.does == mode::udp) {
    unsigned port = 0;
    for (std::size_t i = 0; i < told.workers; ++i) port = open_datagrams(runtime, port);
    ready(port);
    static_cast<void>(runtime.shutdown({.drain = hocket::duration::max()}));
    return;
  }
  auto server = hocket::tcp::serve(runtime, address(0), {.max_connections = no_limit}, handler_of(told.does)).value();
  ready(server.local_address().port());
  server.run_until(SIGTERM);
}

}  // namespace

int main(int argc, char** argv) {
  const orders told = parse(argc, argv);
  if (told.system.ends_with("-loop")) serve_by_loops(told);
  else serve_by_runtime(told);
}
