// The claim word decides the end of a wait, and when the memory of the wait is free.
//
// Several parties may end one wait at once: a primitive grants it, a deadline passes, a stop source fires, a scope
// kills it. A claim makes exactly one of them the winner, and identifies the last party that still uses the wait.
//
// # Terms
//
// A wait *registers* with sources: the list of a primitive, a timer service, a stop source. The waiting coroutine is
// the *registrar*; it is *registering* until it commits. The registrar and each registration *hold* the claim. A source
// that pops a registration takes its hold over and *settles* the claim.
//
//   bits 0..3   state
//   bit  4      registering
//   bits 8..31  holds
//
//   idle --arm--> armed --settle--> granted | cancelled | timed_out | killed --(the next arm)--> armed
//                 |   ^
//     settle_both |   | the second was lost
//      (the first)v   |
//                reserved --the second was won too--> granted
//
// # Holds
//
// - The registrar arms with more holds than a wait can have registrations, and gives one to each registration without a
//   write of the word. So a registration costs no read-modify-write. The registrar returns the rest at its commit,
//   which it must make in any case, even if the wait is decided.
// - If the registrar knows all registrations beforehand, commit_first() stores their holds and the commit at once,
//   before the first registration is visible.
// - While a claim is armed, only the registrar drops holds. So a source that finds the claim armed and committed knows
//   the registrations from the number of holds. If it detaches all others, it owns every hold, and ends the claim by
//   one store.
//
// # Who may touch what
//
// - Only the registrar arms, and only without any hold.
// - Any holder may settle.
// - A party that has dropped its hold must not touch the claim, the waiter or the awaiter again.
// - The holder that drops the last hold posts the coroutine.
//
// Hazard: if the coroutine ran, returned and freed the claim while a loser still uses it, then the loser would read
// freed memory. Prevented by the holds: the coroutine is posted after the last one. So a loser needs no lock, and no
// party ever waits for a loser.
//
// # The release of the other registrations
//
// The winner detaches them, if the registrar has committed. An earlier winner (`early`) must not read the
// registrations, because they are still being made. It drops its hold. The registrar finds the end at its commit, and
// detaches them itself. The bit and the state change in one word, so exactly one of the two does it.
//
// # Two selects that meet
//
// A send that finds a receive must win both claims or none. settle_both() takes them in the order of their addresses:
// the first becomes reserved, then the second is settled. If the second is lost, the first becomes armed again. Parties
// that find `reserved` spin for a few operations of a running thread. The order of addresses makes a cycle of such
// waits impossible.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/stop.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A claim is decided from `granted` on.
enum class claim_state : std::uint8_t { idle, armed, reserved, granted, timed_out, cancelled, killed };

// The end of a wait. `none`: it has not ended.
enum class wait_end : std::uint8_t { none, granted = 3, timed_out, cancelled, killed };
// The end of a wait by a stop.
constexpr wait_end end_of(stop_level level) noexcept {
  return level == stop_level::kill ? wait_end::killed : wait_end::cancelled;
}

constexpr claim_state state_of(wait_end cause) noexcept { return static_cast<claim_state>(cause); }
static_assert(state_of(wait_end::granted) == claim_state::granted && state_of(wait_end::killed) == claim_state::killed);

// The result of settle(): another party won; the caller won; the caller won while the registrar was still registering.
enum class settlement : std::uint8_t { lost, won, early };

class claim {
 public:
  claim() noexcept = default;
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  // Registrar only: armed and registering, with the registrar's own hold.
  void arm() noexcept {
    debug_expects(!held(), "a wait was armed while it is under way",
                  "an awaiter waits once at a time: await it to its end before awaiting it again");
    arm_again();
  }

  // Registrar only, after commit_first(), if no other party has learned of the claim.
  void arm_again() noexcept {
    spare_ = plenty;
    // ORDER: relaxed, pairs with nothing: each source publishes the waiter under its own lock in its own attach().
    word_.store(bits(claim_state::armed) | registering | (plenty + 1) * one_hold, std::memory_order_relaxed);
  }

  // Registrar only, after arm() and instead of commit(): commits with one hold for each of `holds` registrations. No
  // registration is visible to other threads yet.
  void commit_first(std::uint32_t holds) noexcept {
    // ORDER: relaxed, pairs with nothing: as above.
    word_.store(bits(claim_state::armed) | holds * one_hold, std::memory_order_relaxed);
  }

  // Registrar only, before the registration that takes the hold becomes visible to others.
  void hold() noexcept {
    debug_expects(spare_ != 0, "a wait has more registrations than a claim can count", "select from fewer operations");
    --spare_;
  }

  // Registrar only: ends the registering. True: the wait continues, the registrar's hold is dropped, and it must not
  // touch the claim again. False: the wait is decided; the registrar keeps its hold, detaches the registrations and
  // drops.
  [[nodiscard]] bool commit() noexcept {
    const std::uint32_t given_up = registering + (spare_ + 1) * one_hold;
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while ((word & state_mask) <= bits(claim_state::reserved)) {
      // ORDER: release, pairs with the exchange in swing() and the load in holds(): the winner reads registrations
      // that were made before this.
      if (word_.compare_exchange_weak(word, word - given_up, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    return_spare();
    return false;
  }

  // Any holder: the number of holds, one of each registration; 0 if the claim is decided or not committed. The number
  // does not change while the claim is neither.
  std::uint32_t holds() const noexcept {
    // ORDER: acquire, pairs with the exchange in commit(): the caller reads the registrations next. (After
    // commit_first() the lock of the source, or the stop's attachment, orders the registrations.)
    const std::uint32_t word = word_.load(std::memory_order_acquire);
    return (word & (state_mask | registering)) == bits(claim_state::armed) ? word / one_hold : 0;
  }

  // Called by the owner of all the holds() of the claim: wins and drops them. The caller must post the coroutine.
  void end(wait_end cause) noexcept {
    // ORDER: relaxed, pairs with nothing: no other party has the claim, and the post orders the coroutine after it.
    word_.store(bits(state_of(cause)), std::memory_order_relaxed);
  }
  // Called after end(), by the same thread: takes one hold again, so that another thread can post.
  void hold_again(wait_end cause) noexcept {
    // ORDER: relaxed, pairs with nothing: see end().
    word_.store(bits(state_of(cause)) | one_hold, std::memory_order_relaxed);
  }

  // Any holder: tries to become the winner. Keeps the caller's hold.
  [[nodiscard]] settlement settle(wait_end cause) noexcept { return settle(state_of(cause)); }

  // Called by a holder of both: grants both or none (then both are lost). The claims are different.
  struct both {
    settlement first;
    settlement second;
  };
  [[nodiscard]] static both settle_both(claim& first, claim& second) noexcept;

  // Like settle_both(), in an order that the caller guarantees. If parties that meet in a ring each begin with another
  // claim, then they wait for each other for ever.
  [[nodiscard]] static both settle_in_order(claim& first, claim& second) noexcept;

  // Any holder: drops `count` holds, its own and the holds of registrations that it detached. True for the last: the
  // caller must post the coroutine, or continue it if the caller is the registrar.
  [[nodiscard]] bool drop(std::uint32_t count = 1) noexcept {
    // ORDER: acq_rel, pairs with the fetch_sub of the other holders in drop(): the last one sees all that they did to
    // the waiter, and so does the coroutine that it posts.
    return word_.fetch_sub(count * one_hold, std::memory_order_acq_rel) / one_hold == count;
  }

  claim_state state() const noexcept {
    // ORDER: relaxed, pairs with nothing: the coroutine is ordered after the end by drop().
    return static_cast<claim_state>(word_.load(std::memory_order_relaxed) & state_mask);
  }
  bool held() const noexcept {
    // ORDER: relaxed, pairs with nothing: a check for misuse.
    return word_.load(std::memory_order_relaxed) >= one_hold;
  }

 private:
  static constexpr std::uint32_t state_mask = 0xf;
  static constexpr std::uint32_t registering = 0x10;
  static constexpr std::uint32_t one_hold = 0x100;
  static constexpr std::uint32_t plenty = 0x7f'ffff;

  static constexpr std::uint32_t bits(claim_state state) noexcept { return static_cast<std::uint32_t>(state); }

  [[HOCKET_COLD]] void return_spare() noexcept;
  settlement settle(claim_state decided) noexcept;
  settlement swing(claim_state& from, claim_state to) noexcept;

  atomic<std::uint32_t> word_{0};
  std::uint32_t spare_ = 0;  // holds of the registrar that no registration has, without its own hold
};

}}}  // namespace hocket::detail
