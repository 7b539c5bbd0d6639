// The completion under every schedule: one of two completers is the first, every waiter sees the writes of this one,
// and may destroy the completion; a new round begins after the old one has ended.
#include <hocket/sync/completion.hpp>

#include "sync/event.cpp"  // for strengths that are broken on purpose
#include "sync/waits.hpp"

namespace {

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
namespace strength = hocket::strength;

// A value that the checker watches.
struct watched {
  explicit watched(int n) : number(n) {}
  watched(watched&& other) : number(static_cast<int>(other.number)) {}
  var<int> number;
};

template <class Strength, class T>
using completion = hocket::basic_completion<Strength, T, hocket::no_hooks>;

template <class Strength>
void one_of_two_completes(execution& run) {
  kept<completion<Strength, watched>> answer;
  place where;
  int first = 0;
  for (int n : {1, 2})
    run.thread(n == 1 ? "completes 1" : "completes 2", [&, n] {
      if (answer->complete(watched(n))) first += n;
    });
  run.thread("waits", [&] {
    auto got = wait_at(where, answer->wait());
    const int number = got->number;
    require(number == 1 || number == 2);
  });
  run.join();
  require(first == 1 || first == 2, "completed by both, or by nobody");
  require(wait_at(where, answer->wait())->number == first);
  answer.free();
}

// `cancels`: a first wait is cancelled at the same time, and a second one follows.
template <class Strength, bool cancels>
void wait_and_free(execution& run) {
  kept<completion<Strength, watched>> answer;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  run.thread("completes", [&] { answer->complete(watched(1)); });
  run.thread("waits", [&] {
    if (!cancels || !wait_at(mortal, answer->wait())) require(wait_at(patient, answer->wait())->number == 1);
    answer.free();
  });
  if (cancels) run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// The woken waiter reads on one thread; another thread begins the next round afterwards.
struct looks {
  var<int>* looked;
  void on_resume(auto&) { *looked = 1; }
};
template <class Strength>
void seen_and_reset(execution& run) {
  var<int> looked(0);
  kept<hocket::basic_completion<Strength, watched, looks>> answer(looks{&looked});
  place where;
  hocket_test::one_wait wait(where, answer->wait());
  answer->complete(watched(1));
  run.thread("looks", [&] { require(wait.end().has_value()); });
  run.thread("resets", [&] {
    if (!answer->is_drained()) return;
    require(looked == 1);
    answer->reset();
    require(answer->complete(watched(2)));
  });
  run.join();
  answer.free();
}

// A round is abandoned while a completer completes it late: this completer does not complete the next round.
template <class Strength>
void late_beside_reset(execution& run) {
  kept<completion<Strength, watched>> answer;
  place where;
  kept<typename completion<Strength, watched>::completer> done(answer->make_completer());
  run.thread("late", [&] {
    done->complete(watched(1));
    done.free();
  });
  run.thread("resets", [&] {
    answer->reset();
    require(answer->make_completer().complete(watched(2)), "the next round was completed by one of the last");
    require(wait_at(where, answer->wait())->number == 2);
  });
  run.join();
  answer.free();
}

// The next round is completed by a thread that knows of the reset by the completion alone: it finds the old value gone.
// The value tells when it comes to its place, and when it leaves.
struct telling {
  explicit telling(var<int>& of) : place(&of) {}
  telling(telling&& other) : place(other.place), there(true) { *place = 1; }
  telling& operator=(telling&&) = delete;
  ~telling() {
    if (there) *place = 0;
  }
  var<int>* place;
  bool there = false;
};
template <class Strength>
void completed_after_reset(execution& run) {
  var<int> taken(0);
  kept<completion<Strength, telling>> answer;
  answer->complete(telling(taken));
  bool second = false;
  run.thread("resets", [&] { answer->reset(); });
  run.thread("completes", [&] { second = answer->complete(telling(taken)); });
  run.join();
  require(second == answer->is_ready());
  answer.free();
}

// A completer is dropped at the same time as another one completes.
void abandoned(execution& run) {
  kept<completion<strength::shared, watched>> answer;
  kept<completion<strength::shared, watched>::completer> done(answer->make_completer());
  place where;
  run.thread("drops", [&] { done.free(); });
  run.thread("completes", [&] { answer->complete(watched(1)); });
  run.thread("waits", [&] {
    auto got = wait_at(where, answer->wait());
    require(got ? got->number == 1 : got.error() == std::errc::broken_pipe);
  });
  run.join();
  answer.free();
}

template <class T>
struct lazy_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  bool compare_exchange_strong(T& seen, T value, std::memory_order won, std::memory_order lost) {
    if (this->load(lost) != seen) return false;
    this->exchange(value, won);
    return true;
  }
};
struct torn : strength::shared {
  template <class T>
  using word = lazy_word<T>;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a completion is completed once, and all see by whom") {
  ::verdict::none(fresh, one_of_two_completes<strength::shared>);
  ::verdict::none(fresh, abandoned);
}

TEST_CASE("whoever a completion lets through sees the value, and may destroy it") {
  ::verdict::none(bounds, wait_and_free<strength::shared, false>);
  ::verdict::none(fresh, wait_and_free<strength::shared, true>);
}

TEST_CASE("a completion is reset when its value was seen") {
  ::verdict::none(bounds, seen_and_reset<strength::shared>);
}

TEST_CASE("a completion that is reset knows who is late, and who is next") {
  ::verdict::none(bounds, completed_after_reset<strength::shared>);
  ::verdict::none(bounds, late_beside_reset<strength::shared>);
}

TEST_CASE("a completion whose round is claimed in two steps is completed twice") {
  auto result = model::explore(fresh, one_of_two_completes<torn>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("no ordering of a completion could be weaker") {
  auto unneeded =
      model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, seen_and_reset<strength::shared>,
                                completed_after_reset<strength::shared>, wait_and_free<strength::shared, false>);
  CHECK(unneeded_in("completion.hpp", unneeded) == "");
}
