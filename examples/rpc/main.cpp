// Remote calls over a socket pair: 100,000 in flight at a time, of tasks and of fibers, on one thread. Some are
// answered after their deadline: the call returns `timed_out`, and the late reply is dropped and counted. Then the
// other end closes, or sends nonsense: every call returns an error, also a call without a deadline.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "client.hpp"
#include "server.hpp"

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t tasks = 95'000, fibers = 4'900, slow_ones = 100, all = tasks + fibers + slow_ones;

struct socket_pair {
  socket_pair() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::system_error(rpc::system_error());
  }
  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;
  ~socket_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2];
};

struct caller {
  task_manager& tm;
  rpc::client& to;
  std::vector<task_id> slow{};
  std::size_t called = 0, most = 0;  // most calls in flight at a time
  std::size_t answered = 0, timed_out = 0, failed = 0;

  rpc::reply call(std::uint32_t method, const char* payload) {
    auto reply = to.call(method, payload);
    if (method == rpc::slow) slow.push_back(reply.id());
    if (++called == all) all_are_in_flight();
    return reply;
  }
  // No call is answered yet, and none has a deadline.
  void all_are_in_flight() {
    most = tm.counts().expected;
    for (const task_id id : slow) tm.set_deadline(id, 10ms);
    to.notify(rpc::answer_upper, "");
  }
  void note(const result<std::string>& answer, std::string_view wanted) {
    if (answer && *answer == wanted) ++answered;
    else if (!answer && answer.error() == std::errc::timed_out) ++timed_out;
    else ++failed;
  }
};

task<> call_in_a_task(caller& by) {
  auto reply = by.call(rpc::upper, "task");
  auto answer = co_await reply;
  by.note(answer, "TASK");
}

void call_in_a_fiber(caller& by) {
  auto reply = by.call(rpc::upper, "fiber");
  auto answer = await(reply);
  by.note(answer, "FIBER");
}

task<> call_in_vain(caller& by) {
  auto reply = by.call(rpc::slow, "late");
  auto answer = co_await reply;
  by.note(answer, "LATE");
}

bool calls_are_answered() {
  socket_pair connection;
  loop lp;
  task_manager tm(lp);
  const rpc::server server(connection.ends[1]);
  rpc::client client(tm, connection.ends[0]);
  caller by{tm, client};
  for (std::size_t i = 0; i < slow_ones; ++i) spawn(lp, {.name = "in vain"}, call_in_vain, std::ref(by));
  for (std::size_t i = 0; i < tasks; ++i) spawn(lp, call_in_a_task, std::ref(by));
  for (std::size_t i = 0; i < fibers; ++i) spawn(lp, {.stack_size = 16 << 10}, call_in_a_fiber, std::ref(by));
  lp.run();
  client.notify(rpc::answer_slow, "");  // now the late replies arrive
  client.end();
  const std::size_t late = tm.counts().late;
  std::printf("%zu in flight; %zu answered, %zu timed out, %zu failed; %zu late replies dropped\n", by.most, by.answered,
              by.timed_out, by.failed, late);
  return by.most == all && by.answered == tasks + fibers && by.timed_out == slow_ones && by.failed == 0 &&
         late == slow_ones;
}

task<> call_without_a_deadline(rpc::client& to, std::errc wanted, std::size_t& told) {
  auto reply = to.call(rpc::upper, "lost");
  auto answer = co_await reply;
  if (!answer && answer.error() == wanted) ++told;
}

// An action of the other end after the calls, and the error that every call returns then.
struct loss {
  const char* what;
  void (*happens)(int fd);
  std::errc told;
};
void say_nonsense(int fd) {
  const rpc::header much{1, rpc::upper, rpc::most_bytes + 1};
  static_cast<void>(rpc::write_all(fd, {reinterpret_cast<const char*>(&much), sizeof much}));
}
constexpr loss losses[] = {
    {"closes", [](int fd) { ::shutdown(fd, SHUT_RDWR); }, std::errc::connection_reset},
    {"says no more", [](int fd) { ::shutdown(fd, SHUT_WR); }, std::errc::connection_reset},
    {"talks nonsense", say_nonsense, std::errc::bad_message},
    {"does not listen", [](int fd) { ::shutdown(fd, SHUT_RD); }, std::errc::connection_reset},
};

bool calls_are_told(const loss& one) {
  constexpr std::size_t calls = 100;
  socket_pair connection;
  std::size_t told = 0;
  loop lp;
  task_manager tm(lp);
  rpc::client client(tm, connection.ends[0]);
  auto others = tm.expect<std::string>();  // of another user: not affected
  for (std::size_t i = 0; i < calls; ++i)
    spawn(lp, call_without_a_deadline, std::ref(client), one.told, std::ref(told));
  while (lp.poll()) continue;
  const bool outstanding = tm.counts().expected == calls + 1;
  one.happens(connection.ends[1]);
  client.notify(rpc::upper, "");  // the writer has a frame to send
  lp.run();
  auto later = client.call(rpc::upper, "");
  const bool at_once = later.is_ready();
  auto failed = sync_wait(later);
  std::printf("the other end %s: %zu of %zu calls are told; a later one: %s\n", one.what, told, calls,
              failed.error().message().c_str());
  return outstanding && told == calls && at_once && !failed && !others.is_ready() && !client.notify(rpc::upper, "");
}

}  // namespace

int main() {
  bool good = calls_are_answered();
  for (const loss& one : losses) good = calls_are_told(one) && good;
  return good ? 0 : 1;
}
