#include <hocket/io/detail/direction.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include "io/place.hpp"

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::grant;
using primitive::locked;
using primitive::suspension;

// --- the coroutine's side

// The limit of calls that a coroutine makes for one operation. After it the driver continues the operation.
static constexpr unsigned most_calls = 16;

// The caller holds the word.
[[HOCKET_ALWAYS_INLINE]] inline bool direction::call_or_fail(transfer& operation) noexcept {
  if (!is_late(operation)) return carry_on(operation);
  leave(false);
  operation.fail(EBADF);
  return true;
}

bool direction::try_now(transfer& operation) noexcept {
  if (try_take()) return call_or_fail(operation);
  // ORDER: relaxed, pairs with nothing: a direction stays `closed` while an operation may begin.
  if (word_.load(std::memory_order_relaxed) == idle) return false;
  return try_without_word(operation);
}

// The coroutine of a granted arm holds the word already.
bool direction::try_without_word(transfer& operation) noexcept {
  if (std::exchange(operation.holds, std::uint8_t{0}) != 0) return call_or_fail(operation);
  // ORDER: relaxed, as in try_now().
  if (!is(word_.load(std::memory_order_relaxed), closed)) return false;
  operation.fail(EBADF);
  return true;
}

// The mark may belong to a running write. Then this operation waits for the end of that write.
bool direction::try_behind_cut(transfer& operation) noexcept {
  if (!try_hold()) return try_now(operation);
  const bool cut = is_behind_cut(operation);
  leave(false);
  if (!cut) return try_now(operation);
  operation.fail(transfer::partial_write);
  return true;
}

bool direction::try_take() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  while (is(expected, ready)) {
    // ORDER: acquire, pairs with the exchange in leave(): calls are made one after the other. Pairs also with
    // the exchange in edge(): the call sees the state that the edge reported.
    if (word_.compare_exchange_weak(expected, busy, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

// The caller holds the word.
bool direction::carry_on(transfer& operation) noexcept {
  if (is_behind_cut(operation)) [[unlikely]] {
    operation.fail(transfer::partial_write);
    leave(false);
    return true;
  }
  for (unsigned calls = 1;; ++calls) {
    const call_end end = record_.carry_out(operation);
    if (end == call_end::blocks) {
      if (operation.is_half_done()) return hold_for(operation, false);
      if (would_block()) return false;
    } else if (end != call_end::more || calls == most_calls) {
      if (operation.is_half_done()) return hold_for(operation, true);
      if (operation.ended != 0) record_end(operation);
      leave(end == call_end::drained);
      return end != call_end::more;
    }
  }
}

// The coroutine holds the word until begin(). `is_ready`: the next call would not block.
bool direction::hold_for(transfer& operation, bool is_ready) noexcept {
  record_part(operation);
  operation.holds = is_ready ? 2 : 1;
  return false;
}

// After a write that was cut short no other write begins: direction.hpp.
bool direction::is_behind_cut(const transfer& operation) const noexcept {
  return operation.done == 0 && operation.writes() && has_partial_write();
}

// False: an edge arrived meanwhile, so the caller repeats the call.
bool direction::would_block() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (expected & edged) {
      // ORDER: acquire, pairs with the exchange in edge(): the next call sees the state that the edge reported.
      if (word_.compare_exchange_weak(expected, expected & ~edged, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return false;
    } else {
      if (expected & (line | closing)) {
        leave(true);
        return true;
      }
      // ORDER: release, pairs with the acquires of the party that takes the word next: calls are made one after the
      // other.
      if (word_.compare_exchange_weak(expected, idle, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
  }
}

// The caller holds the word, and releases it. `drained`: the next call would block, unless an edge has arrived.
void direction::leave(bool drained) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (expected & closing) return finish_close();
    if (expected & line) {
      waiter* next = next_in_line();
      if (next && drained && transfer_of(*next).arm != 0) {
        const listing relisted = list_again(*next);  // a grant would report readiness that has ended
        if (relisted == listing::listed) return;
        if (relisted == listing::over) end(*std::exchange(next, nullptr), ECANCELED);
      }
      if (next && record_.hand_over(*next)) return;
      if (next) end(*next, ECANCELED);  // its driver has ended
      // ORDER: relaxed, as above.
      expected = word_.load(std::memory_order_relaxed);
      continue;
    }
    const word next = drained && (expected & edged) == 0 ? idle : ready;
    // ORDER: release, pairs with the acquires of the party that takes the word next: calls are made one after the
    // other.
    if (word_.compare_exchange_weak(expected, next, std::memory_order_release, std::memory_order_relaxed)) return;
  }
}

void direction::begin(suspension& wait, waiter& entry, transfer& operation) noexcept {
  entry.resource = &operation;
  entry.enlist(wait, *this);
  if (operation.holds != 0) [[unlikely]]
    return begin_held(entry, operation);
  listing outcome = listing::again;
  while (outcome == listing::again) {
    if (const int error = record_.attach_here()) return end(entry, error);
    operation.group = current_group();
    outcome = list(entry);
    if (outcome == listing::closed) return end(entry, transfer_of(entry).arm == 2 ? ECANCELED : EBADF);
    if (outcome == listing::taken && !record_.hand_over(entry)) {
      leave(false);  // another group attached the descriptor meanwhile
      outcome = listing::again;
    }
  }
  if (outcome != listing::listed) return;
  if (is_late(operation)) [[unlikely]] {
    if (detach(entry)) end(entry, EBADF);
    return;
  }
  ensure_attached(entry);
}

// The coroutine holds the word.
void direction::begin_held(waiter& entry, transfer& operation) noexcept {
  bool is_ready = std::exchange(operation.holds, std::uint8_t{0}) == 2;
  for (;;) {
    if (const int error = record_.attach_here()) return static_cast<void>(end_served(entry, error));
    operation.group = current_group();
    const listing outcome = is_ready ? listing::again : list_again(entry);
    if (outcome == listing::listed) return ensure_attached(entry);
    if (outcome == listing::over) return static_cast<void>(end_served(entry, ECANCELED));
    if (record_.hand_over(entry)) return;
    is_ready = true;  // another group attached the descriptor meanwhile
  }
}

// The operation does not wait: begin() is not called.
void direction::release_held(transfer& operation) noexcept {
  if (std::exchange(operation.holds, std::uint8_t{0}) == 0) return;
  // ORDER: relaxed, pairs with nothing: in a forked child abandon() has released the parent's word.
  if (is(word_.load(std::memory_order_relaxed), busy)) leave(false);
}

// The operation's descriptor was closed: the record belongs to a later descriptor.
bool direction::is_late(const transfer& operation) const noexcept {
  return operation.generation != record_.generation();
}

// See open_descriptor.hpp.
void direction::ensure_attached(waiter& entry) noexcept {
  while (!record_.is_attached()) {
    const int error = record_.attach_here();
    if (error == 0) continue;
    if (detach(entry)) end(entry, error);
    return;
  }
}

direction::listing direction::list(waiter& entry) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges verify.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (is(expected, closed)) return listing::closed;
    if (is_linked(expected) || state_of(expected) == busy) {
      const listing outcome = get_in_line(entry);
      if (outcome != listing::again) return outcome;
      // ORDER: relaxed, as above.
      expected = word_.load(std::memory_order_relaxed);
      continue;
    }
    const bool takes = state_of(expected) == ready;
    // ORDER: acq_rel, release pairs with the exchange in edge(): the party that serves the waiter sees its
    // operation. Acquire as in try_take(), and pairs with the fetch_or in in_use(): is_attached() is read after it.
    if (word_.compare_exchange_weak(expected, takes ? busy : word_of(entry), std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
      return takes ? listing::taken : listing::listed;
  }
}

// Sets the mark `line` under the mutex. So if next_in_line() or detach() sees the mark, it finds the waiter.
direction::listing direction::get_in_line(waiter& entry) noexcept {
  locked guard(record_.mutex());
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  do {
    if (!is_linked(expected) && state_of(expected) != busy) return listing::again;
    if (!is_linked(expected) && (expected & closing)) return listing::closed;
    // ORDER: relaxed, pairs with nothing: the line is guarded by the mutex.
  } while (
      !word_.compare_exchange_weak(expected, expected | line, std::memory_order_relaxed, std::memory_order_relaxed));
  line_.push_back(entry);
  return listing::listed;
}

// --- the driver's side

// Stores the mark also if the word has it: the party that takes the word next must see this edge, too.
primitive::waiter* direction::edge() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange verifies it.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    word next = expected | edged;
    if (is_linked(expected)) {
      if (expected & of_job) [[unlikely]] {
        if (take_job(expected)) return nullptr;
        continue;
      }
      next = busy | (expected & line);
    } else if (state_of(expected) == closed) {
      return nullptr;
    } else if (state_of(expected) != busy) {
      next = ready;
    }
    // ORDER: acq_rel, acquire pairs with the exchange in list(): the waiter's operation is visible. Release pairs
    // with the acquires of the party that takes the word next: its call is made after the edge.
    if (word_.compare_exchange_weak(expected, next, std::memory_order_acq_rel, std::memory_order_relaxed))
      return is_linked(expected) ? &waiter_of(expected) : nullptr;
  }
}

primitive::waiter* direction::serve(waiter& entry) noexcept {
  transfer& operation = transfer_of(entry);
  if (is_late(operation)) [[unlikely]]
    return end_served(entry, EBADF);
  if (operation.arm != 0) [[unlikely]] {
    grant_arm(entry);
    return nullptr;
  }
  if (is_behind_cut(operation)) [[unlikely]]
    return end_served(entry, transfer::partial_write);
  bool drained = true;
  for (;;) {
    const call_end end = record_.carry_out(operation);
    if (operation.is_half_done()) record_part(operation);
    if (end == call_end::more) {
      if (!is_over(entry)) return &entry;
      drained = false;
      break;
    }
    if (end != call_end::blocks) {
      drained = end == call_end::drained;
      break;
    }
    const listing outcome = list_again(entry);
    if (outcome == listing::listed) return nullptr;
    if (outcome != listing::again) break;
  }
  if (operation.ended != 0) record_end(operation);
  grant won = entry.claim_popped();
  leave(drained);
  won.post();
  return nullptr;
}

// If the grant is lost, the waiter may be destroyed.
void direction::grant_arm(waiter& entry) noexcept {
  transfer& operation = transfer_of(entry);
  grant won = entry.claim_popped();
  if (!won) return leave(false);
  operation.holds = 2;
  // ORDER: relaxed, pairs with nothing: a mark for this process's forked children.
  word_.fetch_or(over, std::memory_order_relaxed);
  won.post();
}

// For an arm that was granted, if its coroutine is destroyed before it runs.
void direction::pass_on(waiter& entry) noexcept { release_held(transfer_of(entry)); }

primitive::waiter* direction::end_served(waiter& entry, int error) noexcept {
  transfer_of(entry).fail(error);
  grant won = entry.claim_popped();
  leave(false);
  won.post();
  return nullptr;
}

// The call would block. Returns `again` if an edge has arrived, and `over` if the waiter must not wait any more.
direction::listing direction::list_again(waiter& entry) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges verify.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (expected & (over | closing)) {
      if (is_over(entry)) return listing::over;
      // ORDER: relaxed, as above.
      expected = word_.load(std::memory_order_relaxed);
      continue;
    }
    const bool again = (expected & edged) != 0;
    const word next = again ? expected & ~edged : word_of(entry) | (expected & line);
    // ORDER: acq_rel, pairs with the exchanges in edge() and leave(), as in list().
    if (word_.compare_exchange_weak(expected, next, std::memory_order_acq_rel, std::memory_order_relaxed))
      return again ? listing::again : listing::listed;
  }
}

// For the party that serves the waiter. True: its wait has ended in another way, or close() has begun.
bool direction::is_over(waiter& entry) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint; no data of close() is read.
  const word current = word_.load(std::memory_order_relaxed);
  if (current & closing) {
    transfer_of(entry).fail(ECANCELED);
    return true;
  }
  if ((current & over) == 0) return false;
  // ORDER: acquire, pairs with the exchange in unlist(): if the mark is for this wait, the wait is decided.
  word_.fetch_and(~over, std::memory_order_acquire);
  return entry.decided();
}

void direction::fail(waiter& entry, int error) noexcept {
  end(entry, error);
  leave(true);
}

// The waiter is linked neither in the word nor in the line.
void direction::end(waiter& entry, int error) noexcept {
  transfer_of(entry).fail(error);
  entry.claim_popped().post();
}

// --- the line

// For the party that holds the word. Null: the line is empty now.
primitive::waiter* direction::next_in_line() noexcept {
  locked guard(record_.mutex());
  if (line_.empty()) return nullptr;
  waiter& next = line_.front();
  take_out_of_line(next);
  return &next;
}

// Under the mutex.
void direction::take_out_of_line(waiter& entry) noexcept {
  primitive::wait_queue::erase(entry);
  // ORDER: relaxed, pairs with nothing: the line is guarded by the mutex.
  if (line_.empty()) word_.fetch_and(~line, std::memory_order_relaxed);
}

// --- the end of a wait, by any thread

bool direction::detach(waiter& entry) noexcept {
  if (!take_out(entry)) return false;
  const transfer& operation = transfer_of(entry);
  if (operation.writes() && operation.is_half_done()) [[unlikely]]
    wake_behind_cut();
  return true;
}

bool direction::take_out(waiter& entry) noexcept {
  if (take_out_of_word(word_of(entry))) return true;
  locked guard(record_.mutex());
  return unlist(entry);
}

// Waiters behind a write that was cut short fail. A driver makes them fail when it serves them.
void direction::wake_behind_cut() noexcept {
  waiter* const next = edge();
  if (next && !record_.hand_over(*next)) fail(*next, ECANCELED);
}

// Under the mutex.
bool direction::unlist(waiter& entry) noexcept {
  if (entry.linked()) {
    take_out_of_line(entry);
    return true;
  }
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges verify.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if ((expected & ~line) == word_of(entry)) {
      if ((expected & line) ? promote_instead_of(expected) : take_out_of_word(expected)) return true;
    } else if (!is(expected, busy)) {
      return false;  // the waiter was served
      // ORDER: release, pairs with the exchange in is_over(): the wait is decided.
    } else if (word_.compare_exchange_weak(expected, expected | over, std::memory_order_release,
                                           std::memory_order_relaxed)) {
      return false;
    }
    // ORDER: relaxed, as above.
    expected = word_.load(std::memory_order_relaxed);
  }
}

// `expected` is the waiter, without marks.
bool direction::take_out_of_word(word expected) noexcept {
  // ORDER: acquire, pairs with the exchange in list_again(): what the driver did for the waiter is visible.
  return word_.compare_exchange_strong(expected, idle, std::memory_order_acquire, std::memory_order_relaxed);
}

// Under the mutex. The first waiter of the line replaces the waiter in the word. It leaves the line before the
// exchange, because after it the driver may serve and free the waiter at any time.
bool direction::promote_instead_of(word expected) noexcept {
  waiter& next = line_.pop_front();
  // ORDER: acq_rel, acquire as in take_out_of_word(); release pairs with the exchange in edge(): the operation of the
  // next waiter is visible.
  if (word_.compare_exchange_strong(expected, word_of(next) | (line_.empty() ? 0 : line), std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
    return true;
  line_.push_front(next);
  return false;
}

// --- closing

void direction::close() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (!is_linked(expected) && (state_of(expected) == closed || (expected & closing))) return;
    const bool owned = !is_linked(expected) && state_of(expected) == busy;
    const word next = owned ? expected | closing : busy | closing | (is_linked(expected) ? expected & line : 0);
    // ORDER: acquire, pairs with the exchanges in list(), list_again() and leave(): the waiter's operation and
    // the results of earlier calls are visible.
    if (!word_.compare_exchange_weak(expected, next, std::memory_order_acquire, std::memory_order_relaxed)) continue;
    if (is_job(expected)) notify(job_of(expected));
    if (is_linked(expected) && !is_job(expected)) fail(waiter_of(expected), ECANCELED);
    else if (!owned) finish_close();
    return;
  }
}

// The caller holds the word, with the mark `closing`: no waiter enters the line any more.
void direction::finish_close() noexcept {
  while (waiter* const next = next_in_line()) end(*next, ECANCELED);
  // ORDER: relaxed, pairs with nothing: direction_closed() orders the next use of the descriptor.
  word_.store(closed, std::memory_order_relaxed);
  record_.direction_closed();
}

// With no mark beside it, busy may be a call of this process. A waiter of this process enters the line after abandon().
void direction::abandon() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  do {
    const bool is_of_parent =
        is_linked(expected) || (state_of(expected) == busy && (expected & (line | over | edged)) != 0);
    if (!is_of_parent || (!is_linked(expected) && (expected & closing) != 0)) return;
    // ORDER: relaxed, pairs with nothing: the parent's threads do not run in the child.
  } while (!word_.compare_exchange_weak(expected, ready, std::memory_order_relaxed, std::memory_order_relaxed));
  if (is_linked(expected) && !is_job(expected)) primitive::wait_queue::link_alone(waiter_of(expected));
  while (!line_.empty()) primitive::wait_queue::link_alone(line_.pop_front());
}

bool direction::try_hold() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  word expected = word_.load(std::memory_order_relaxed);
  while (is(expected, ready) || is(expected, idle)) {
    // ORDER: acquire, pairs with the exchange in leave(), as in try_take().
    if (word_.compare_exchange_weak(expected, busy, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

void direction::reopen() noexcept {
  set_count(0);
  // ORDER: release, pairs with the acquires of the party that takes the word: it sees the new generation.
  word_.store(ready, std::memory_order_release);
}

// For the party that holds the word. While a write is half done its count has a mark. If the wait ends then, the mark
// stays.
void direction::record_part(const transfer& operation) noexcept {
  if (operation.writes()) set_count(operation.done | cut_mark);
}

// For the party that holds the word, when the operation has ended with a result. A write that lacks memory in its
// middle is a partial write, too. After any other error the system refuses the next write, and reports the reason.
void direction::record_end(const transfer& operation) noexcept {
  if (operation.whole == 0) return;
  const bool cut =
      operation.writes() && operation.done != 0 && (operation.error == ENOBUFS || operation.error == ENOMEM);
  if (cut) set_count(operation.done | cut_mark);
  else if (has_partial_write()) set_count(0);
}

bool direction::in_use() noexcept {
  // ORDER: acq_rel, release pairs with the exchange in list(): if this load misses a waiter, the
  // waiter sees that its group was detached.
  const word current = word_.fetch_or(0, std::memory_order_acq_rel);
  return is_linked(current) || state_of(current) == busy;
}

const char* direction::what() const noexcept {
  return this == &record_.in ? "a read" : this == &record_.out ? "a write" : "the end of a peer";
}

std::size_t direction::waiting() const noexcept {
  // ORDER: relaxed, pairs with nothing: a guess.
  const word current = word_.load(std::memory_order_relaxed);
  return is_linked(current) || (state_of(current) == busy && (current & line)) ? 1 : 0;
}

}}}  // namespace hocket::detail
