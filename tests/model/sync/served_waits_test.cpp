// Grants inside of grants under every schedule (served_waits.hpp). Ending a select's other waits serves the lines that
// it stood in: whoever is served there is granted later, by the same thread, and may have been cancelled meanwhile, or
// destroy all of it at once.
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::operation;
using hocket::result;
using hocket::semaphore;
using hocket::stop_source;
using hocket::suspension;
using hocket::waiter;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::kept;
using hocket_test::one_wait;
using hocket_test::place;
namespace model = hocket::model;
namespace strength = hocket::strength;

// Who selects from both is first in the line of `wanted`, where one permit is free and two are asked for, so that who
// wants one stands behind. A release of `given` takes the first out of there.
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

// A chain: the first one's end serves the second, a select as well, whose end serves the third, who wants nothing but
// its turn. The second is cancelled meanwhile: its permit stays, and the third is served all the same.
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

// --- the mistakes

// A line that forgets the permits of those whose waits had ended when their turn came. Who is served inside of a grant
// has nobody but its line to give them back to.
template <bool remembers>
struct line final : hocket::detail::permit_line<strength::shared> {
  using base = hocket::detail::permit_line<strength::shared>;
  using base::free;
  using base::give;

  struct acquiring {
    using value_type = void;
    bool try_now() noexcept { return false; }
    void begin(suspension& wait, waiter& entry) noexcept { from->base::begin(wait, entry, wish); }
    result<void> take() noexcept { return {}; }
    line* from;
    hocket::detail::permit_request wish;
  };

  explicit line(std::size_t permits) noexcept : base(permits) {}
  operation<acquiring> acquire(std::size_t n) { return operation<acquiring>(acquiring{this, {n}}); }
  const char* what() const noexcept override { return "a line"; }
  void pass_on(waiter& entry) noexcept override {
    if (remembers) give(hocket::detail::permit_request::of(entry).wanted);
  }
};

template <bool remembers>
void passed_on(execution& run) {
  kept<semaphore> given(0u);
  kept<line<remembers>> wanted(1u);
  kept<stop_source> stop;
  place places[] = {place(), place(&*stop)};
  one_wait first(places[0], select(given->acquire(), wanted->acquire(2)));
  one_wait second(places[1], wanted->acquire(1));
  run.thread("wait", [&] {
    require(first.end()->index() == 0);
    const std::size_t taken = second.end() ? 1 : 0;
    require(wanted->free() + taken == 1, "a permit was lost");
    wanted.free();
  });
  run.thread("releases", [&] { given->release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
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

TEST_CASE("a chain of grants inside of grants goes past one that was cancelled") { ::verdict::none(bounds, a_chain); }

TEST_CASE("a reader behind a writer that selects gets in when the writer has something else") {
  ::verdict::none(bounds, reader_behind_a_writer);
}

TEST_CASE("permits that nobody passes on after a grant inside of a grant are lost") {
  ::verdict::none(bounds, passed_on<true>);
  ::verdict::found(bug::assertion, bounds, passed_on<false>);
}
