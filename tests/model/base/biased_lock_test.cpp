// A biased lock between its owner and a borrower, under every schedule.
#include <hocket/base/seam/biased_lock.hpp>

#include "verdict.hpp"

#include <string>

namespace {

using hocket::detail::biased_lock;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::locked;
namespace model = hocket::model;

// What the lock guards.
struct guarded {
  biased_lock lock;
  var<int> value{0, "value"};
  void change() { value = value + 1; }
};

// Each change is seen by the other side, and none is made beside another.
void owner_and_borrower(execution& run) {
  guarded state;
  int borrowed = 0;
  run.thread("owner", [&] {
    for (int i = 0; i < 2; ++i) {
      const locked guard(state.lock);
      state.change();
    }
  });
  run.thread("borrower", [&] {
    for (int i = 0; i < 2; ++i) {
      if (!state.lock.try_borrow()) continue;
      state.change();
      ++borrowed;
      state.lock.give_back();
    }
  });
  run.join();
  require(state.value == 2 + borrowed, "a change was lost");
}

// An owner that holds it is not waited for.
void held_meanwhile(execution& run) {
  guarded state;
  state.lock.lock();
  bool got = true;
  run.thread("borrower", [&] { got = state.lock.try_borrow(); });
  run.join();
  require(!got, "what the owner holds was borrowed");
  state.lock.unlock();
  state.lock.lock();
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

}  // namespace

TEST_CASE("an owner and a borrower never have the lock at the same time, and neither waits for ever") {
  ::verdict::none(bounds, &owner_and_borrower);
  ::verdict::none(bounds, &held_meanwhile);
}

TEST_CASE("no ordering of the biased lock could be weaker, its fences among them") {
  constexpr model::options narrow{.preemptions = 2, .stale_reads = 2, .spurious = 0, .weakened = "biased_lock"};
  CHECK(model::unneeded_orderings(narrow, &owner_and_borrower) == "");
}
