// The channel between one sender and one receiver under every schedule: items pass whole and in order, a waiting
// end is woken, beside a cancel and a close, too, and an item that is sent beside a close is received or
// returned.
#include <hocket/sync/select.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include "sync/spsc_channel.cpp"  // for strengths that are broken on purpose
#include "sync/waits.hpp"

namespace {

using hocket::basic_spsc_channel;
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

// What can be in one place only. The checker sees who looks at it.
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

template <class Strength>
using channel_of = basic_spsc_channel<Strength, parcel>;

// Items through a channel of so many places.
template <class Strength, std::size_t places, int items>
void go_through(execution& run) {
  kept<channel_of<Strength>> c(places);
  place at_sender, at_receiver;
  run.thread("sends", [&] {
    for (int n = 1; n <= items; ++n) {
      parcel item(n);
      require(wait_at(at_sender, c->send(std::move(item))).has_value());
    }
  });
  run.thread("receives", [&] {
    for (int n = 1; n <= items; ++n) {
      auto got = wait_at(at_receiver, c->receive());
      require(got.has_value() && got->number() == n);
    }
  });
  run.join();
  c.free();
}

// A waiting send is cancelled at the same time as a receive.
template <class Strength>
void sender_cancelled(execution& run) {
  kept<channel_of<Strength>> c(1u);
  kept<stop_source> stop;
  place at_sender(&*stop);
  require(c->try_send(parcel(9)).has_value());
  parcel item(1);
  bool sent = false;
  run.thread("sends", [&] { sent = wait_at(at_sender, c->send(std::move(item))).has_value(); });
  run.thread("receives", [&] { require(c->try_receive()->number() == 9); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  auto left = c->try_receive();
  require(item.number() == (sent ? 0 : 1) && left.has_value() == sent, "an item was lost, or doubled");
  c.free();
  stop.free();
}

// A waiting receive is cancelled at the same time as a send; a second receive follows.
template <class Strength>
void receiver_cancelled(execution& run) {
  kept<channel_of<Strength>> c(1u);
  kept<stop_source> stop;
  place at_first(&*stop), at_second;
  int received = 0;
  run.thread("receives", [&] {
    auto got = wait_at(at_first, c->receive());
    if (!got) got = wait_at(at_second, c->receive());
    received = got->number();
  });
  run.thread("sends", [&] { require(c->try_send(parcel(1)).has_value()); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(received == 1, "an item was lost, or doubled");
  c.free();
  stop.free();
}

// Both ends are at work while the channel is closed: what was sent is received before the end.
template <class Strength, int items>
void closed_beside(execution& run) {
  kept<channel_of<Strength>> c(1u);
  place at_sender, at_receiver;
  int sent = 0, kept_back = 0, received = 0;
  run.thread("sends", [&] {
    for (int n = 1; n <= items; ++n) {
      parcel item(n);
      if (wait_at(at_sender, c->send(std::move(item)))) ++sent;
      else kept_back += item.number() == n ? 1 : 0;
    }
  });
  run.thread("receives", [&] {
    while (auto got = wait_at(at_receiver, c->receive())) require(got->number() == ++received);
  });
  run.thread("closes", [&] { c->close(); });
  run.join();
  require(sent == received, "an item that was sent was not received before the end");
  require(sent + kept_back == items, "an item was lost");
  require(c->size() == 0);
  c.free();
}

// The same with a batch; all or nothing of it is returned.
template <class Strength>
void batch_closed_beside(execution& run) {
  kept<channel_of<Strength>> c(2u);
  place at_sender, at_receiver;
  std::size_t sent = 0, received = 0;
  parcel items[] = {parcel(1), parcel(2)};
  run.thread("sends", [&] {
    if (auto n = wait_at(at_sender, c->send_batch(items))) sent = *n;
  });
  run.thread("receives", [&] {
    parcel room[] = {parcel(0), parcel(0)};
    while (auto n = wait_at(at_receiver, c->receive_batch(room))) received += *n;
  });
  run.thread("closes", [&] { c->close(); });
  run.join();
  require(sent == received, "an item that was sent was not received before the end");
  for (std::size_t i = 0; i < 2; ++i) require(items[i].number() == (i < sent ? 0 : static_cast<int>(i) + 1));
  c.free();
}

// A select at the receiving ends of two channels.
template <class Strength>
void selected(execution& run) {
  using channel = basic_spsc_channel<Strength, int>;
  kept<channel> a(1u), b(1u);
  place at_receiver;
  int received = 0;
  run.thread("receives", [&] {
    for (int i = 0; i < 2; ++i) {
      auto got = wait_at(at_receiver, select(a->receive(), b->receive()));
      received += got->index() == 0 ? *got->template get<0>() : *got->template get<1>();
    }
  });
  run.thread("sends to a", [&] { require(a->try_send(1).has_value()); });
  run.thread("sends to b", [&] { require(b->try_send(20).has_value()); });
  run.join();
  require(received == 21);
  a.free();
  b.free();
}

// --- the mistakes

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
};

// A count is written, and the notes are read, without the order between the two.
template <class T>
class unfenced_word : public hocket::primitive::atomic<T> {
 public:
  using hocket::primitive::atomic<T>::atomic;
  void store(T value, std::memory_order asked) noexcept {
    hocket::primitive::atomic<T>::store(value, asked == std::memory_order_seq_cst ? std::memory_order_release : asked);
  }
};
struct unfenced : strength::shared {
  template <class T>
  using word = unfenced_word<T>;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options ordered{.preemptions = 2, .stale_reads = 0, .spurious = 0};
constexpr model::options deep{.preemptions = 3, .stale_reads = 1, .spurious = 0};

template <class Body>
void found(const model::options& limits, Body body) {
  auto result = model::explore(limits, body);
  INFO(result.text());
  CHECK(result.found());
}

}  // namespace

TEST_CASE("items go from one to one whole and in order, and no end sleeps with something to do") {
  ::verdict::none(deep, go_through<strength::shared, 1, 2>);
  ::verdict::none(ordered, go_through<strength::shared, 2, 3>);
}

TEST_CASE("faults 12, 13, 19: one to one, beside a cancel an item is with its sender or in the channel") {
  ::verdict::none(bounds, sender_cancelled<strength::shared>);
  ::verdict::none(bounds, receiver_cancelled<strength::shared>);
}

TEST_CASE("faults 15, 19: one to one, what is sent beside a close is received before the end, or comes back") {
  ::verdict::none(bounds, closed_beside<strength::shared, 1>);
  ::verdict::none(ordered, closed_beside<strength::shared, 2>);
  ::verdict::none(bounds, batch_closed_beside<strength::shared>);
}

TEST_CASE("one to one in a select: each item is received once") { ::verdict::none(bounds, selected<strength::shared>); }

TEST_CASE("one to one without the order between a count and the look at the notes somebody sleeps for ever") {
  found(bounds, go_through<unfenced, 1, 2>);
  found(bounds, closed_beside<unfenced, 1>);
}

TEST_CASE("one to one without the mutex somebody is forgotten") {
  found(bounds, receiver_cancelled<unlocked>);
  found(bounds, closed_beside<unlocked, 1>);
}
