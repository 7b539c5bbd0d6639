// Grants inside of grants under every schedule (grants::post_in_turn). Unlinking the other registrations of
// a select serves their lines. The waits that are claimed there are posted later, by this thread. Meanwhile they
// may be cancelled, and one that was posted may destroy all sources.
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::semaphore;
using hocket::stop_source;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::kept;
using hocket_test::one_wait;
using hocket_test::place;
namespace model = hocket::model;

// A select from both semaphores is first in the queue of `wanted`: it asks for two permits, and one is free. So a
// waiter for one permit is queued behind it. A release of `given` removes the select from the queue.
struct two_lines {
  semaphore given{0}, wanted{1};

  auto either() { return select(given.acquire(), wanted.acquire(2)); }
};

// The second is served inside of the first one's grant, while it is cancelled, and all is destroyed at once.
void cancelled_while_served(execution& run) {
  kept<two_lines> lines;
  kept<stop_source> stop;
  place places[] = {place(), place(&*stop)};
  one_wait first(places[0], lines->either());
  one_wait second(places[1], lines->wanted.acquire());
  run.thread("wait", [&] {
    auto got = first.end();
    require(got->index() == 0);
    got->get<0>()->forget();
    if (auto mine = second.end()) mine->forget();
    else lines->wanted.try_acquire().forget();
    require(lines->given.available() == 0 && lines->wanted.available() == 0, "permits were lost, or made");
    lines.free();
  });
  run.thread("releases", [&] { lines->given.release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// The same by a permit for both lines at once: either may be what the first one gets, never both.
void both_lines_at_once(execution& run) {
  kept<two_lines> lines;
  place places[2];
  one_wait first(places[0], lines->either());
  one_wait second(places[1], lines->wanted.acquire());
  run.thread("wait", [&] {
    require(first.end().has_value());  // and gives back what it got
    require(second.end().has_value());
  });
  run.thread("releases", [&] { lines->given.release(); });
  run.thread("releases the other", [&] { lines->wanted.release(); });
  run.join();
  require(lines->given.available() == 1 && lines->wanted.available() == 2, "permits were lost, or made");
  lines.free();
}

// Two selects are linked in both lines. Each line grants one select, which unlinks that select from the other line.
void each_line_grants_another(execution& run) {
  kept<two_lines> lines;
  place places[2];
  lines->wanted.try_acquire().forget();
  one_wait first(places[0], select(lines->given.acquire(), lines->wanted.acquire()));
  one_wait second(places[1], select(lines->given.acquire(), lines->wanted.acquire()));
  run.thread("releases", [&] { lines->given.release(); });
  run.thread("releases the other", [&] { lines->wanted.release(); });
  run.join();
  {
    auto one = first.end(), other = second.end();
    require(one && other && one->index() != other->index(), "each has a permit of another line");
  }
  lines.free();
}

// A chain: the end of the first serves the second, a select as well. The end of the second serves the third, a plain
// waiter. The second is cancelled meanwhile: its permit stays, and the third is served all the same.
void a_chain(execution& run) {
  kept<two_lines> lines;
  kept<semaphore> last(1u);
  kept<stop_source> stop;
  place places[] = {place(), place(&*stop), place()};
  one_wait first(places[0], lines->either());
  one_wait second(places[1], select(lines->wanted.acquire(), last->acquire(2)));
  one_wait third(places[2], last->acquire(0));
  run.thread("wait", [&] {
    require(first.end()->index() == 0);
    if (auto got = second.end()) require(got->index() == 0);
    require(third.end().has_value());
    require(lines->given.available() == 1 && lines->wanted.available() == 1, "permits were lost, or made");
    require(last->available() == 1, "a permit of the last one was lost, or made");
    lines.free();
    last.free();
  });
  run.thread("releases", [&] { lines->given.release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// A writer that selects holds up a reader behind it: the reader gets in when the writer has got something else.
void reader_behind_a_writer(execution& run) {
  kept<semaphore> given(0u);
  kept<hocket::shared_mutex> mutex;
  kept<stop_source> stop;
  place places[] = {place(), place(&*stop)};
  auto reading = mutex->try_lock_shared();
  one_wait writer(places[0], select(given->acquire(), mutex->lock()));
  one_wait reader(places[1], mutex->lock_shared());
  run.thread("wait", [&] {
    require(writer.end()->index() == 0);
    (void)reader.end();
    reading.unlock();
    require(static_cast<bool>(mutex->try_lock()), "the mutex is lost");
    mutex.free();
  });
  run.thread("releases", [&] { given->release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(given->available() == 1, "permits were lost, or made");
  given.free();
  stop.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("who is served inside of a grant and cancelled leaves its permits, and may be destroyed with them at once") {
  ::verdict::none(bounds, cancelled_while_served);
}

TEST_CASE("a select that is granted by two lines at once takes one, and serves who stood behind it") {
  ::verdict::none(bounds, both_lines_at_once);
}

TEST_CASE("grants at two lines do not wait for each other's lock") {
  ::verdict::none(bounds, each_line_grants_another);
}

TEST_CASE("a chain of grants inside of grants goes past one that was cancelled") { ::verdict::none(bounds, a_chain); }

TEST_CASE("a reader behind a writer that selects gets in when the writer has something else") {
  ::verdict::none(bounds, reader_behind_a_writer);
}
