// The channel under every schedule: an item is with its sender, in the channel or with one receiver; an operation that
// can complete does so, beside a cancel and a close, too; two selects meet or do not; and a receiver sees the writes
// before the send.
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>

#include "sync/channel.cpp"  // for strengths that are broken on purpose
#include "sync/waits.hpp"

namespace {

using hocket::basic_channel;
using hocket::stop_source;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::one_wait;
using hocket_test::place;
using hocket_test::wait_at;
namespace model = hocket::model;
namespace strength = hocket::strength;

// An item that can be in one place only. The checker sees each access to it.
class parcel {
 public:
  explicit parcel(int n) noexcept : n_(n) {}
  parcel(parcel&& other) noexcept : n_(other.take()) {}
  parcel& operator=(parcel&& other) noexcept {
    n_ = other.take();
    return *this;
  }
  ~parcel() { n_ = -1; }
  int number() const { return n_; }

 private:
  int take() noexcept {
    const int n = n_;
    n_ = 0;
    return n;
  }
  var<int> n_;
};

// Two items through a channel of so many places.
template <class Strength, std::size_t places>
void two_through(execution& run) {
  kept<basic_channel<Strength, parcel>> c(places);
  place at_sender, at_receiver;
  run.thread("sends", [&] {
    for (int n : {1, 2}) {
      parcel item(n);
      require(wait_at(at_sender, c->send(std::move(item))).has_value());
    }
  });
  run.thread("receives", [&] {
    for (int n : {1, 2}) {
      auto got = wait_at(at_receiver, c->receive());
      require(got.has_value() && got->number() == n);
    }
  });
  run.join();
  c.free();
}

// A waiting send is cancelled at the same time as a receive.
template <class Strength, std::size_t places>
void sender_cancelled(execution& run) {
  kept<basic_channel<Strength, parcel>> c(places);
  kept<stop_source> stop;
  place at_sender(&*stop);
  if (places > 0) require(c->try_send(parcel(9)).has_value());
  parcel item(1);
  int received = 0;
  bool sent = false;
  run.thread("sends", [&] { sent = wait_at(at_sender, c->send(std::move(item))).has_value(); });
  run.thread("receives", [&] {
    if (places > 0) require(c->try_receive()->number() == 9);
    auto got = c->try_receive();
    if (got) received = got->number();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  if (auto left = c->try_receive()) received += left->number();
  require(item.number() + received == 1, "an item was lost, or doubled");
  require(sent == (received == 1), "a sender was told the wrong thing");
  c.free();
  stop.free();
}

// A receiver begins to wait beside a cancel and a send.
void receiver_comes_beside_a_cancel(execution& run) {
  kept<hocket::channel<parcel>> c(1u);
  kept<stop_source> stop;
  place at_receiver(&*stop);
  int received = 0;
  run.thread("receives", [&] {
    if (auto got = wait_at(at_receiver, c->receive())) received += got->number();
  });
  run.thread("sends", [&] { require(c->try_send(parcel(1)).has_value(), "there is a place, or a receiver"); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  if (auto left = c->try_receive()) received += left->number();
  require(received == 1, "an item was lost, or doubled");
  c.free();
  stop.free();
}

// A waiting receive is cancelled at the same time as a send.
template <class Strength>
void receiver_cancelled(execution& run) {
  kept<basic_channel<Strength, parcel>> c(0u);
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  int received = 0;
  one_wait first(places[0], c->receive());
  one_wait second(places[1], c->receive());
  run.thread("receive", [&] {
    if (auto got = first.end()) received += got->number();
    if (auto got = second.end()) received += got->number();
  });
  run.thread("sends", [&] {
    require(c->try_send(parcel(1)).has_value(), "somebody waits");
    c->close();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(received == 1, "an item was lost, or doubled");
  c.free();
  stop.free();
}

// Both sides come while the channel is closed.
template <class Strength>
void closed_beside(execution& run) {
  kept<basic_channel<Strength, parcel>> c(0u);
  place at_sender, at_receiver;
  parcel item(1);
  int received = 0;
  bool sent = false;
  run.thread("sends", [&] { sent = wait_at(at_sender, c->send(std::move(item))).has_value(); });
  run.thread("receives", [&] {
    if (auto got = wait_at(at_receiver, c->receive())) received = got->number();
  });
  run.thread("closes", [&] { c->close(); });
  run.join();
  require(item.number() + received == 1, "an item was lost, or doubled");
  require(sent == (received == 1));
  c.free();
}

// Waits of two threads in one piece of memory: which claim has the lower address is the same in each execution.
struct two_places {
  alignas(16) std::byte memory[2][2048];
};
template <class Op>
auto wait_in(std::byte* memory, place& where, hocket::primitive::operation<Op> op) {
  using wait = hocket::detail::wait<Op>;
  static_assert(sizeof(wait) <= sizeof(two_places) / 2);
  static_cast<void>(std::move(op).unwrap());  // it is awaited, by hand
  where.enter();
  wait* const here = new (memory) wait(op);
  if (!here->await_ready() && here->await_suspend({})) where.sleep();
  where.enter();
  auto got = here->await_resume();
  here->~wait();
  return got;
}

// Two selects, each of which can send at one channel and receive at another, the other way round: one item goes.
template <class Strength>
void selects_meet(execution& run) {
  using channel = basic_channel<Strength, int>;
  kept<channel> a(0u), b(0u);
  kept<two_places> waits;
  place places[2];
  int sent[2] = {}, received[2] = {};
  auto choose = [&](int i, channel& out, channel& in) {
    auto got = wait_in(waits->memory[i], places[i], select(out.send(i + 1), in.receive()));
    require(got.has_value());
    if (got->index() == 0) sent[i] = i + 1;
    else received[i] = *got->template get<1>();
  };
  run.thread("a to b", [&] { choose(0, *a, *b); });
  run.thread("b to a", [&] { choose(1, *b, *a); });
  run.join();
  require(sent[0] + sent[1] == received[0] + received[1], "a select was granted alone");
  require((sent[0] == 0) != (sent[1] == 0));
  a.free();
  b.free();
  waits.free();
}

// A select with both ends of a channel, and another sender.
template <class Strength>
void both_ends(execution& run) {
  kept<basic_channel<Strength, int>> c(0u);
  kept<two_places> waits;
  place places[2];
  int received = 0;
  run.thread("both", [&] {
    auto got = wait_in(waits->memory[0], places[0], select(c->send(1), c->receive()));
    require(got.has_value() && got->index() == 1, "it met itself");
    received = *got->template get<1>();
  });
  run.thread("sends", [&] { require(wait_in(waits->memory[1], places[1], c->send(2)).has_value()); });
  run.join();
  require(received == 2);
  c.free();
  waits.free();
}

// --- the mistakes

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options deep{.preemptions = 3, .stale_reads = 1, .spurious = 0};

// The receiver frees the channel when it has its item: the sender may be about to leave it.
template <class Strength>
void freed_by_the_receiver(execution& run) {
  kept<basic_channel<Strength, parcel>> c(0u);
  place at_receiver;
  one_wait wait(at_receiver, c->receive());
  run.thread("receives", [&] {
    require(wait.end().has_value());
    c.free();
  });
  run.thread("sends", [&] { require(c->try_send(parcel(1)).has_value()); });
  run.join();
}

template <class Body>
void found(const model::options& limits, Body body) {
  auto result = model::explore(limits, body);
  INFO(result.text());
  CHECK(result.found());
}

}  // namespace

TEST_CASE("items go through a channel whole and in order, with and without places") {
  ::verdict::none(deep, two_through<strength::shared, 0>);
  ::verdict::none(deep, two_through<strength::shared, 1>);
}

TEST_CASE("faults 12, 19: beside a cancel an item is with its sender, in the channel, or with a receiver") {
  ::verdict::none(deep, sender_cancelled<strength::shared, 0>);
  ::verdict::none(deep, sender_cancelled<strength::shared, 1>);
}

TEST_CASE("fault 13: beside the cancel of the first receiver an item is received by one of two") {
  ::verdict::none(deep, receiver_cancelled<strength::shared>);
  ::verdict::none(bounds, receiver_comes_beside_a_cancel);
}

TEST_CASE("faults 15, 19: a close beside a send and a receive lets both go on, and loses nothing") {
  ::verdict::none(bounds, closed_beside<strength::shared>);
}

TEST_CASE("two selects that meet from both sides exchange one item") {
  ::verdict::none(bounds, selects_meet<strength::shared>);
}

TEST_CASE("a select with both ends of a channel meets others only") {
  ::verdict::none(bounds, both_ends<strength::shared>);
}

TEST_CASE("a channel may be destroyed by the receiver that was granted") {
  ::verdict::none(deep, freed_by_the_receiver<strength::shared>);
}

TEST_CASE("a channel that gets in line without its mutex forgets somebody, or tears an item") {
  found(bounds, two_through<unlocked, 0>);
  found(bounds, two_through<unlocked, 1>);
  found(bounds, closed_beside<unlocked>);
  found(bounds, selects_meet<unlocked>);
}
