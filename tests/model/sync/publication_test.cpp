// Broadcast and watch under every schedule: no receiver waits while there is an item that it has not seen; items arrive
// whole and in order, and missing items are reported as lost; beside a cancel and a close, too.
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/watch.hpp>

#include "sync/publication.cpp"  // for a strength that is broken on purpose
#include "sync/waits.hpp"

namespace {

using hocket::basic_broadcast;
using hocket::basic_watch;
using hocket::lagged_by;
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

// The checker sees each access to it.
class note {
 public:
  explicit note(int n) noexcept : n_(n) {}
  note(const note& other) noexcept : n_(other.number()) {}
  note& operator=(const note& other) noexcept {
    n_ = other.number();
    return *this;
  }
  ~note() { n_ = -1; }
  int number() const noexcept { return n_; }

 private:
  var<int> n_;
};

// The items of one receiver until the end.
struct tally {
  int got = 0, lost = 0, last = 0;
};
template <class Receiver>
tally receive_all(place& where, Receiver mine) {
  tally all;
  for (;;) {
    auto item = wait_at(where, mine.receive());
    if (item) {
      require(item->number() == all.last + 1, "an item came out of order");
      ++all.last;
      ++all.got;
    } else if (auto lost = static_cast<int>(lagged_by(item.error()))) {
      all.last += lost;
      all.lost += lost;
    } else {
      return all;
    }
  }
}

// One sends so many items and closes, others receive.
template <class Strength, int items, int receivers>
void broadcast_to(execution& run) {
  kept<basic_broadcast<Strength, note>> b(1u);
  place places[2];
  for (int i = 0; i < receivers; ++i) {
    run.thread(i == 0 ? "receives" : "receives too", [&, i, mine = b->subscribe()] {
      const tally all = receive_all(places[i], mine);
      require(all.got + all.lost == items, "an item was lost, and nobody was told");
    });
  }
  run.thread("sends", [&] {
    for (int n = 1; n <= items; ++n) require(b->send(note(n)));
    b->close();
  });
  run.join();
  b.free();
}

// A receive that waits is cancelled beside a send; the receiver goes on.
template <class Strength>
void broadcast_cancelled(execution& run) {
  kept<basic_broadcast<Strength, note>> b(2u);
  kept<stop_source> stop;
  place at_first(&*stop), at_second;
  auto mine = b->subscribe();
  run.thread("receives", [&] {
    auto item = wait_at(at_first, mine.receive());
    if (!item) item = wait_at(at_second, mine.receive());
    require(item->number() == 1, "an item was lost");
  });
  run.thread("sends", [&] { b->send(note(1)); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  b.free();
  stop.free();
}

// The receiver frees it as soon as it was woken: the sender may be about to leave it.
template <class Strength>
void freed_by_the_receiver(execution& run) {
  kept<basic_broadcast<Strength, note>> b(1u);
  place at_receiver;
  auto mine = b->subscribe();
  run.thread("receives", [&] {
    require(wait_at(at_receiver, mine.receive()).has_value());
    b.free();
  });
  run.thread("sends", [&] { b->send(note(1)); });
  run.join();
}

// Two set, one receives until the end: it sees the last value.
template <class Strength>
void watched(execution& run) {
  kept<basic_watch<Strength, note>> w(note(0));
  place at_receiver;
  int last = -1;
  run.thread("receives", [&] {
    auto mine = w->subscribe();
    while (auto value = wait_at(at_receiver, mine.receive())) {
      require(value->number() > last, "a value was seen twice");
      last = value->number();
    }
  });
  run.thread("sets", [&] {
    require(w->set(note(1)));
    require(w->set(note(2)));
    w->close();
  });
  run.join();
  require(last == 2, "the last value was not seen");
  w.free();
}

// A select of a watch and a broadcast.
template <class Strength>
void selected(execution& run) {
  kept<basic_watch<Strength, int>> w(0);
  kept<basic_broadcast<Strength, int>> b(1u);
  place at_receiver;
  auto value = w->subscribe();
  auto items = b->subscribe();
  require(value.try_receive().has_value());
  int sum = 0;
  run.thread("receives", [&] {
    for (int i = 0; i < 2; ++i) {
      auto got = wait_at(at_receiver, select(value.receive(), items.receive()));
      sum += got->index() == 0 ? *got->template get<0>() : *got->template get<1>();
    }
  });
  run.thread("sets", [&] { w->set(1); });
  run.thread("sends", [&] { b->send(20); });
  run.join();
  require(sum == 21);
  w.free();
  b.free();
}

// --- the mistakes

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
  static void drain(mutex&) noexcept {}
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options deep{.preemptions = 3, .stale_reads = 1, .spurious = 0};

template <class Body>
void found(const model::options& limits, Body body) {
  auto result = model::explore(limits, body);
  INFO(result.text());
  CHECK(result.found());
}

}  // namespace

TEST_CASE("items of a broadcast come in order, or are told lost, and nobody waits beside one") {
  ::verdict::none(deep, broadcast_to<strength::shared, 2, 1>);
  ::verdict::none(bounds, broadcast_to<strength::shared, 1, 2>);
}

TEST_CASE("faults 12, 13: beside a cancel a receiver of a broadcast loses nothing") {
  ::verdict::none(bounds, broadcast_cancelled<strength::shared>);
}

TEST_CASE("a broadcast may be destroyed by the receiver that was woken") {
  ::verdict::none(deep, freed_by_the_receiver<strength::shared>);
}

TEST_CASE("a receiver of a watch sees the last value, whatever is set beside its look") {
  ::verdict::none(deep, watched<strength::shared>);
}

TEST_CASE("a select of a watch and a broadcast gets each once") { ::verdict::none(bounds, selected<strength::shared>); }

TEST_CASE("a broadcast, or a watch, that gets in line without its mutex forgets somebody, or tears an item") {
  found(bounds, broadcast_to<unlocked, 2, 1>);
  found(bounds, watched<unlocked>);
  found(bounds, selected<unlocked>);
}
