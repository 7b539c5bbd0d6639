// Remote calls over a socket pair: 100,000 in flight at a time, of tasks and of fibers, on one thread. Some are answered
// after their deadline: who called is told `timed_out`, and the reply is dropped and counted when it comes.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>
#include <sys/socket.h>
#include <unistd.h>

#include "client.hpp"
#include "server.hpp"

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t tasks = 95'000, fibers = 4'900, slow_ones = 100, all = tasks + fibers + slow_ones;

struct tally {
  std::size_t answered = 0, timed_out = 0, failed = 0;
  void note(const result<std::string>& answer, std::string_view wanted) {
    if (answer && *answer == wanted) ++answered;
    else if (!answer && answer.error() == std::errc::timed_out) ++timed_out;
    else ++failed;
  }
};

task<> call_in_a_task(rpc::client& to, tally& of) {
  auto reply = to.call(rpc::upper, "task", {.within = 1min});
  auto answer = co_await reply;
  of.note(answer, "TASK");
}

void call_in_a_fiber(rpc::client& to, tally& of) {
  auto reply = to.call(rpc::upper, "fiber", {.within = 1min});
  auto answer = await(reply);
  of.note(answer, "FIBER");
}

task<> call_in_vain(rpc::client& to, tally& of) {
  auto reply = to.call(rpc::slow, "late", {.within = 10ms});
  auto answer = co_await reply;
  of.note(answer, "LATE");
}

}  // namespace

int main() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 1;
  tally of;
  manager_counts counts;
  {
    loop lp;
    task_manager tm(lp);
    const rpc::server server(ends[1], all);
    rpc::client client(tm, ends[0]);
    for (std::size_t i = 0; i < slow_ones; ++i) spawn(lp, {.name = "in vain"}, call_in_vain, std::ref(client), std::ref(of));
    for (std::size_t i = 0; i < tasks; ++i) spawn(lp, call_in_a_task, std::ref(client), std::ref(of));
    for (std::size_t i = 0; i < fibers; ++i)
      spawn(lp, {.stack_size = 16 << 10}, call_in_a_fiber, std::ref(client), std::ref(of));
    lp.run();
    client.notify(rpc::go_on, "");  // now the late ones come
    client.end();
    counts = tm.counts();
  }
  ::close(ends[0]);
  ::close(ends[1]);
  std::printf("%zu answered, %zu timed out, %zu failed; %zu late replies dropped\n", of.answered, of.timed_out, of.failed,
              counts.late);
  return of.answered == tasks + fibers && of.timed_out == slow_ones && of.failed == 0 && counts.late == slow_ones ? 0 : 1;
}
