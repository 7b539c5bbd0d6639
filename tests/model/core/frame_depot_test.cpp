// The depot of frames under every schedule, compiled from the library's own source.
//
// The depot has no lock-free part: a mutex guards each shelf, another mutex guards the housekeeping, and its atomics
// are numbers. So these tests ask what the mutexes order, and which steps belong together:
//
//   a magazine    is taken once, and its taker sees the leaver's writes
//   the limit     counts a magazine before it lies on a shelf
//   a period      ends once, although several threads run maintain() at its end
#include "core/thread/frame_depot.hpp"

#include "core/kept.hpp"
#include "verdict.hpp"

#include <array>
#include <memory>

namespace {

using hocket::duration;
using hocket::steady_clock;
using hocket::time_point;
using hocket::detail::cached_frame;
using hocket::detail::frame_depot;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
namespace detail = hocket::detail;
namespace model = hocket::model;

constexpr std::size_t size_class = detail::frame_classes;
constexpr std::size_t bytes = detail::magazine_bytes(size_class);

// Magazines of one frame each: the depot counts no frames. `used` stands for what an owner writes into a frame.
template <std::size_t Count>
struct some_magazines {
  some_magazines() {
    for (auto& frame : all) frame = ::new (detail::new_frame(detail::frame_size(size_class))) cached_frame{nullptr};
  }

  void leave(std::size_t number) {
    used[number] = used[number] + 1;
    depot->leave(all[number], size_class);
  }
  // The number of the magazine that comes; Count if there is none.
  std::size_t take() {
    const cached_frame* const taken = depot->take(size_class);
    if (!taken) return Count;
    std::size_t number = 0;
    while (all[number] != taken) ++number;
    require(number < Count, "a magazine that nobody left");
    used[number] = used[number] + 1;
    return number;
  }
  // How many lie on the shelf, which the depot's count must say, too. They are freed.
  std::size_t clear() {
    std::size_t count = 0;
    const std::size_t held = depot->held();
    while (cached_frame* taken = depot->take(size_class)) {
      detail::free_frames(taken, size_class);
      ++count;
    }
    require(held == count * bytes, "the depot counts what it does not have, or does not count what it has");
    require(depot->held() == 0);
    depot.free();
    return count;
  }

  kept<frame_depot> depot;
  cached_frame* all[Count];
  var<int> used[Count];
};

void two_leave_and_two_take(execution& run) {
  some_magazines<2> t;
  std::array<std::size_t, 2> taken{};
  for (std::size_t i = 0; i < 2; ++i) {
    run.thread("leaves", [&, i] { t.leave(i); });
    run.thread("takes", [&, i] { taken[i] = t.take(); });
  }
  run.join();
  require(taken[0] != taken[1] || taken[0] == 2, "one magazine was taken twice");
  for (std::size_t one : taken)
    if (one != 2) detail::free_frames(t.all[one], size_class);
  const auto came = static_cast<std::size_t>((taken[0] != 2) + (taken[1] != 2));
  require(t.clear() + came == 2, "a magazine was lost, or is there twice");
}

// A thread takes the magazine that it left, or another one, beside a trim().
void trimmed_beside_its_use(execution& run) {
  some_magazines<2> t;
  std::size_t trimmed = 0;
  t.leave(0);
  run.thread("uses", [&] {
    t.leave(1);
    if (const std::size_t one = t.take(); one != 2) t.leave(one);
  });
  run.thread("trims", [&] { trimmed = t.depot->trim(); });
  run.join();
  require(t.clear() + trimmed / bytes == 2, "a magazine was lost, or is there twice");
}

void two_leave_at_the_limit(execution& run) {
  some_magazines<2> t;
  t.depot->limit(bytes);
  for (std::size_t i = 0; i < 2; ++i) run.thread("leaves", [&, i] { t.leave(i); });
  run.join();
  require(t.clear() == 1, "the depot keeps more than its limit, or nothing below it");
}

constexpr time_point at(int seconds) noexcept { return time_point(std::chrono::seconds(seconds)); }

// In the ending period one of three magazines was in use. Several threads run maintain() at its end.
template <int Keepers, bool BesideUse>
void kept_by_several(execution& run) {
  some_magazines<3> t;
  for (std::size_t i = 0; i < 3; ++i) t.leave(i);
  static_cast<void>(t.depot->maintain(at(1)));
  t.leave(t.take());
  for (int i = 0; i < Keepers; ++i)
    run.thread("maintains", [&] { static_cast<void>(t.depot->maintain(at(1) + t.depot->decay())); });
  if (BesideUse) {
    run.thread("uses", [&] {
      if (const std::size_t one = t.take(); one != 3) t.leave(one);
    });
  }
  run.join();
  const std::size_t rest = t.clear();
  if (BesideUse) require(rest >= 1 && rest <= 3, "a magazine was lost, or is there twice");
  else require(rest == 1, "a magazine that was needed is given back, or one that was not is kept");
}

constexpr model::options wide{.preemptions = 3, .stale_reads = 1, .spurious = 0};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_SUITE_BEGIN("model/core/frame_depot");

TEST_CASE("a magazine that one thread leaves in the depot is taken once, and whole") {
  verdict::none(narrow, &two_leave_and_two_take);
}

TEST_CASE("a trim of the depot frees what nobody takes") { verdict::none(narrow, &trimmed_beside_its_use); }

TEST_CASE("several threads that leave magazines at once do not exceed the limit") {
  verdict::none(wide, &two_leave_at_the_limit);
}

TEST_CASE("a period of decay ends once, and keeps the magazines that it needed") {
  verdict::none(narrow, &kept_by_several<2, false>);
}

TEST_CASE("housekeeping beside a thread that uses frames loses no magazine") {
  verdict::none(narrow, &kept_by_several<1, true>);
}

TEST_CASE("the depot of frames needs no ordering beside its mutexes'") {
  constexpr model::options bounds{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "frame_depot."};
  CHECK(model::unneeded_orderings(bounds, &two_leave_and_two_take, &two_leave_at_the_limit) == "");
}

TEST_SUITE_END();
