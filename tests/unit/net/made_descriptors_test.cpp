// Every call of the library that makes a descriptor: none is inherited by a program that is started, and none gets the
// number of a standard stream, also if the program began with these closed. Each call runs in a child of its own.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/loopback.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr int first_hidden = 500;  // numbers from here on are the test's

// What a call has made, for as long as the test looks at it; the last one ends first.
class held {
 public:
  held() = default;
  held(held&&) = default;
  held& operator=(held&&) = delete;
  ~held() {
    while (!all_.empty()) all_.pop_back();
  }
  template <class T>
  void add(T&& created) {
    all_.push_back(std::make_shared<std::decay_t<T>>(std::forward<T>(created)));
  }

 private:
  std::vector<std::shared_ptr<void>> all_;
};

template <class... T>
held hold(T&&... created) {
  held all;
  (all.add(std::forward<T>(created)), ...);
  return all;
}

struct maker {
  const char* name;
  std::size_t count;  // the least number of descriptors
  std::function<held()> make;
};

void accept_all(loop& on, tcp::server& server) {
  while (server.counts().accepted == 0) on.poll();
}

held serve_one(const socket_address& at) {
  auto on = std::make_shared<loop>();
  auto handler = [](tcp::stream peer) -> task<> { static_cast<void>(co_await peer.closed()); };
  auto server = std::make_shared<tcp::server>(tcp::serve(*on, at, handler).value());
  auto client = std::make_shared<tcp::stream>(sync_wait(tcp::connect(server->local_address())).value());
  accept_all(*on, *server);
  return hold(on, server, client);
}

held accept_from(const socket_address& at, bool waits) {
  auto listener = tcp::listener::bind(at).value();
  auto near = sync_wait(tcp::connect(listener.local_address())).value();
  auto far = waits ? sync_wait(listener.accept()).value() : listener.try_accept().value();
  return hold(std::move(listener), std::move(near), std::move(far));
}

held pass(std::size_t count) {
  auto ends = make_unix_pair().value();
  const std::vector<int> sent(count, ends.near.native_handle());
  sync_wait(ends.near.send_with_fds("x", sent)).value();
  std::array<char, 4> buffer{};
  std::vector<unique_fd> fds(count);
  REQUIRE(sync_wait(ends.far.receive_with_fds(buffer, fds)).value().fds == count);
  return hold(std::move(ends), std::move(fds));
}

// Waits in vain, so that the thread has a driver.
held wait_at_all() {
  auto ends = make_pipe().value();
  std::array<char, 4> buffer{};
  REQUIRE_FALSE(sync_wait(within(0ms, ends.reader.read_some(buffer))).has_value());
  pollfd expected{ends.reader.native_handle(), POLLIN, 0};
  REQUIRE_FALSE(sync_wait(within(0ms, poll_fds({&expected, 1}))).has_value());
  return hold(std::move(ends));
}

held wait_on_a_guest() {
  auto parker = std::make_shared<descriptor_parker>();
  auto guest = std::make_shared<loop>(loop_options{.parker = parker.get()});
  auto counter = std::make_shared<event_counter>(event_counter::make().value());
  static_cast<void>(spawn(
      *guest, [](event_counter& owner) -> task<> { static_cast<void>(co_await owner.take()); }, std::ref(*counter)));
  guest->poll();
  return hold(parker, counter, guest);
}

struct hidden_fds {
  int reader, writer, terminal, socket, file;
};

// Number 0, 1 or 2 becomes a copy of the fd, while `open` makes a stream of it.
held stream_of_standard(int number, int source, result<stream> (*open)() noexcept) {
  const int saved = ::fcntl(number, F_DUPFD_CLOEXEC, first_hidden);
  REQUIRE(::dup2(source, number) == number);
  stream created = open().value();
  if (saved >= 0) {
    ::dup2(saved, number);
    ::close(saved);
  } else {
    ::close(number);
  }
  return hold(std::move(created));
}

int hide(int fd) {
  const int hidden = ::fcntl(fd, F_DUPFD_CLOEXEC, first_hidden);
  REQUIRE(hidden >= first_hidden);
  ::close(fd);
  return hidden;
}

// Objects for standard streams, with numbers that the test does not look at. The other ends stay open, too.
hidden_fds make_hidden(const std::string& file) {
  std::array<int, 2> pipe{}, sockets{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const int regular = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  hide(sockets[1]);
  hide(master);
  return {hide(pipe[0]), hide(pipe[1]), hide(terminal), hide(sockets[0]), hide(regular)};
}

// More than earlier tests have made: an ended set leaves its descriptor to the next one.
held make_signal_sets() {
  std::vector<std::shared_ptr<signal_set>> sets;
  for (int i = 0; i < 40; ++i) sets.push_back(std::make_shared<signal_set>(std::initializer_list<int>{SIGUSR2}));
  return hold(std::move(sets));
}

std::vector<maker> all_makers(const std::string& file) {
  std::vector<maker> all{{"make_pipe", 2, [] { return hold(make_pipe().value()); }},
                         {"event_counter::make", 1, [] { return hold(event_counter::make().value()); }},
                         {"signal_set", 1, [] { return make_signal_sets(); }},
                         {"a wait of a thread, and poll_fds", 5, [] { return wait_at_all(); }},
                         {"a guest loop that waits", 5, [] { return wait_on_a_guest(); }},
                         {"tcp::listener::bind", 1, [] { return hold(tcp::listener::bind("127.0.0.1:0").value()); }},
                         {"tcp::listener::bind for unix sockets", 1,
                          [] { return hold(tcp::listener::bind(own_unix_address("made-listener")).value()); }},
                         {"tcp::connect, accept", 3, [] { return accept_from("127.0.0.1:0", true); }},
                         {"tcp::connect, try_accept", 3, [] { return accept_from("127.0.0.1:0", false); }},
                         {"tcp::connect, accept for unix sockets", 3,
                          [] { return accept_from(own_unix_address("made-connection"), true); }},
                         {"udp::socket::bind", 1, [] { return hold(udp::socket::bind("127.0.0.1:0").value()); }},
                         {"udp::socket::connect", 1, [] { return hold(udp::socket::connect("127.0.0.1:9").value()); }},
                         {"make_unix_pair", 2, [] { return hold(make_unix_pair().value()); }},
                         {"receive_with_fds of one", 3, [] { return pass(1); }},
                         {"receive_with_fds of many", 12, [] { return pass(10); }},
                         {"tcp::serve", 5, [] { return serve_one("127.0.0.1:0"); }},
                         {"file::open", 1, [file] {
                            auto pool = std::make_shared<blocking_pool>(blocking_pool_options{});
                            return hold(pool,
                                        sync_wait(file::open(*pool, file, {.write = true, .create = true})).value());
                          }}};
  if (has_v6()) all.push_back({"tcp::connect, accept for IPv6", 3, [] { return accept_from("[::1]:0", true); }});
  const hidden_fds hidden = make_hidden(file);
  for (const int source : {hidden.reader, hidden.terminal, hidden.socket, hidden.file})
    all.push_back({"standard_input", 1, [=] { return stream_of_standard(0, source, &standard_input); }});
  for (const int source : {hidden.writer, hidden.terminal, hidden.socket, hidden.file}) {
    all.push_back({"standard_output", 1, [=] { return stream_of_standard(1, source, &standard_output); }});
    all.push_back({"standard_error", 1, [=] { return stream_of_standard(2, source, &standard_error); }});
  }
  if (!starts_no_children()) {
    all.push_back({"process::start", 4, [] {
                     return hold(process::start({"sleep", "60"}, {.in = process::pipe,
                                                                  .out = process::pipe,
                                                                  .err = process::pipe,
                                                                  .kill_on_destruction = true})
                                     .value());
                   }});
  }
  return all;
}

std::set<int> open_fds() {
  std::set<int> all;
  for (int fd = 0; fd != first_hidden; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) all.insert(fd);
  return all;
}

// What is wrong with the descriptors that the call makes; empty: nothing.
std::string faults_of(const maker& current) {
  const std::set<int> before = open_fds();
  const held created = current.make();
  std::size_t count = 0;
  std::ostringstream wrong;
  for (const int fd : open_fds()) {
    if (before.count(fd) != 0) continue;
    ++count;
    if (fd < 3) wrong << current.name << " has made number " << fd << "; ";
    if (::fcntl(fd, F_GETFD) != FD_CLOEXEC)
      wrong << current.name << " has made number " << fd << ", not close-on-exec; ";
  }
  if (count < current.count) wrong << current.name << " has made " << count << " descriptors; ";
  return wrong.str();
}

template <class Prepare>
void check_each_in_child(Prepare prepare) {
  const temporary_folder folder;
  const std::string file = folder / "file";
  const std::size_t count = all_makers(file).size();
  for (std::size_t i = 0; i != count; ++i) {
    CAPTURE(all_makers(file)[i].name);
    const child_end end = end_of_child([&] {
      const maker current = all_makers(file)[i];
      const int errors = ::fcntl(2, F_DUPFD_CLOEXEC, first_hidden);
      prepare();
      const std::string wrong = faults_of(current);
      ::dup2(errors, 2);
      if (!wrong.empty()) FAIL(wrong);
    });
    INFO(end.errors);
    CHECK(end.returned);
  }
}

}  // namespace

TEST_CASE("each descriptor that the library makes is closed in a program that is started") {
  check_each_in_child([] {});
}

TEST_CASE("no descriptor that the library makes gets the number of a standard stream that was closed") {
  check_each_in_child([] {
    for (const int number : {0, 1, 2}) ::close(number);
  });
}

// The program lists its own descriptors: what it has beside the standard streams is the folder that it reads.
TEST_CASE("a program that is started beside all of them has its standard streams alone" *
          doctest::skip(starts_no_children())) {
  const child_end end = end_of_child([] {
    for (int fd = 3; fd != 1024; ++fd) ::close(fd);
    const temporary_folder folder;
    std::vector<held> all;
    for (const maker& current : all_makers(folder / "file")) all.push_back(current.make());
    process list = process::start({"ls", "/proc/self/fd"}, {.in = process::null, .out = process::pipe}).value();
    CHECK(sync_wait(read_all(list.out())).value() == "0\n1\n2\n3\n");
    all.clear();
  });
  INFO(end.errors);
  CHECK(end.returned);
}
