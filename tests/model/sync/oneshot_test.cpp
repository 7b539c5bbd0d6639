// The oneshot under every schedule: the value arrives once, although a receive is cancelled; the last of the two
// ends frees the state, once.
#include <hocket/coro/oneshot.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::make_oneshot;
using hocket::stop_source;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// A value that the checker watches: its bytes, and how many there are.
int live = 0;
struct watched {
  explicit watched(int n) : number(n) { ++live; }
  watched(watched&& other) : number(static_cast<int>(other.number)) { ++live; }
  watched& operator=(watched&&) = delete;
  ~watched() { --live; }
  var<int> number;
};

// The ends, each to be destroyed by the thread that has it.
template <class T>
struct two_ends {
  kept<hocket::oneshot_sender<T>> sender;
  kept<hocket::oneshot_receiver<T>> receiver;

  explicit two_ends(hocket::oneshot<T> ends = make_oneshot<T>())
      : sender(std::move(ends.sender)), receiver(std::move(ends.receiver)) {}
};

void sent_and_received(execution& run) {
  two_ends<watched> ends;
  place where;
  live = 0;
  run.thread("sends", [&] {
    ends.sender->send(watched(7));
    ends.sender.free();
  });
  run.thread("receives", [&] {
    {
      auto got = wait_at(where, ends.receiver->receive());
      require(got.has_value() && got->number == 7);
    }
    ends.receiver.free();
  });
  run.join();
  require(live == 0, "a value was not destroyed, or twice");
}

// A cancelled receive is repeated, without a stop: the value is still there, or arrives later.
void cancelled_and_repeated(execution& run) {
  two_ends<int> ends;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  run.thread("sends", [&] {
    require(ends.sender->send(7), "the receiver is there");
    ends.sender.free();
  });
  run.thread("receives", [&] {
    auto got = wait_at(mortal, ends.receiver->receive());
    if (!got) got = wait_at(patient, ends.receiver->receive());
    require(got.has_value() && *got == 7);
    require(wait_at(patient, ends.receiver->receive()).error() == std::errc::broken_pipe);
    ends.receiver.free();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// Neither end waits for the other: the value is received by nobody, and destroyed.
void sent_to_nobody(execution& run) {
  two_ends<watched> ends;
  live = 0;
  run.thread("sends", [&] {
    (void)ends.sender->send(watched(7));
    ends.sender.free();
  });
  run.thread("goes", [&] { ends.receiver.free(); });
  run.join();
  require(live == 0, "a value was not destroyed, or twice");
}

void sender_goes(execution& run) {
  two_ends<void> ends;
  place where;
  run.thread("goes", [&] { ends.sender.free(); });
  run.thread("receives", [&] {
    require(wait_at(where, ends.receiver->receive()).error() == std::errc::broken_pipe);
    ends.receiver.free();
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a oneshot gives what was sent") { ::verdict::none(bounds, sent_and_received); }

TEST_CASE("fault 12: a receive that is cancelled as the value comes can be repeated, and gets it") {
  ::verdict::none(bounds, cancelled_and_repeated);
}

TEST_CASE("a value that nobody receives is destroyed once, and the state freed once") {
  ::verdict::none(bounds, sent_to_nobody);
}

TEST_CASE("a receiver learns that its sender is gone") { ::verdict::none(bounds, sender_goes); }

TEST_CASE("no ordering of a oneshot could be weaker") {
  auto unneeded = model::unneeded_orderings(bounds, sent_and_received, sent_to_nobody, sender_goes);
  CHECK(unneeded_in("oneshot.hpp", unneeded) == "");
}
