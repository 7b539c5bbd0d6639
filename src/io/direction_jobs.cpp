// The readiness jobs of a direction (readiness_job.hpp).
#include <hocket/io/detail/direction.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

static_assert(alignof(readiness_job) >= 4, "the low bits of its address are marks");

watch_outcome direction::watch(readiness_job& job) noexcept {
  for (;;) {
    if (record_.attach_here() != 0) return watch_outcome::failed;
    const watch_outcome outcome = link(job);
    // Another group may have attached meanwhile: as ensure_attached().
    if (outcome != watch_outcome::linked || record_.is_attached() || !unwatch(job)) return outcome;
  }
}

watch_outcome direction::link(readiness_job& job) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  do {
    if (is_linked(expected)) return watch_outcome::occupied;
    if (state_of(expected) == ready) return watch_outcome::ready;
    if (state_of(expected) == closed || (expected & closing) != 0) return watch_outcome::closed;
    if (state_of(expected) == busy) return watch_outcome::busy;
    // ORDER: acq_rel, release pairs with the exchange in take_job(): the party of the edge sees the job; acquire
    // pairs with that in in_use(): is_attached() comes after it.
  } while (!word_.compare_exchange_weak(expected, word_of(job), std::memory_order_acq_rel, std::memory_order_relaxed));
  return watch_outcome::linked;
}

bool direction::unwatch(readiness_job& job) noexcept {
  // ORDER: relaxed, pairs with nothing: the caller has linked the job.
  word expected = word_.load(std::memory_order_relaxed);
  while ((expected & ~line) == word_of(job)) {
    const bool has_line = (expected & line) != 0;
    // ORDER: relaxed, pairs with nothing: the job is of this thread, and the mutex guards the line.
    if (!word_.compare_exchange_weak(expected, has_line ? busy | line : idle, std::memory_order_relaxed,
                                     std::memory_order_relaxed))
      continue;
    if (has_line) leave(false);
    return true;
  }
  return false;
}

// For edge(): `expected` is the word with a job. False: the word has changed, and `expected` is the present one.
bool direction::take_job(word& expected) noexcept {
  const bool has_line = (expected & line) != 0;
  // ORDER: acq_rel, acquire pairs with the exchange in link(): the job is visible; release pairs with the acquires of
  // the party that takes the word next, as in edge().
  if (!word_.compare_exchange_strong(expected, has_line ? busy | line : ready, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
    return false;
  notify(job_of(expected));
  if (has_line) leave(false);
  return true;
}

// With the word of a line still busy: the descriptor is not used again before leave().
void direction::notify(readiness_job& job) noexcept {
  job.notify(this == &record_.in    ? job_reason::readable
             : this == &record_.out ? job_reason::writable
                                    : job_reason::peer_end);
}

}}}  // namespace hocket::detail
