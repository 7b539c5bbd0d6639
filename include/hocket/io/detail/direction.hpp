// One direction of a descriptor: reading, writing, or the end of the peer. Its word says whether a call may succeed,
// which party makes a call now, and which operation waits.
//
// # The word
//
//   state      meaning                              left by                                       to
//   idle       the call would block                 edge()                                        ready
//                                                   an operation that begins to wait              waiter
//   ready      the call may succeed                 an operation that takes it                    busy
//   busy       one party makes the call             this party: leave(), would_block()            idle, ready, closed
//                                                   the driver, if the call would block           waiter
//   waiter     an operation waits: its address      edge()                                        busy
//                                                   the end of its wait: detach()                 idle, or the next one
//   job        a readiness job waits: its address   edge(): notifies the job                      ready, or busy
//              (readiness_job.hpp)                  unwatch()                                     idle, or busy
//   closed     the descriptor is closed             reopen(), for the next descriptor             ready
//
// Marks beside a state:
//   - edge, beside busy. An edge arrived after the party took the word. The party repeats the call, or leaves the word
//     ready.
//   - closing, beside busy. close() was called. The party that leaves the word closes the direction.
//   - line, beside busy, waiter and job. More operations wait in `line_`.
//   - over, beside busy. The wait of the waiter that is served has ended in another way.
//   - of_job, beside an address: the address of a job.
//
// # The party that makes a call
//
// A party makes each call of the system between taking the word and leaving it. So one party makes calls at a time:
//   - a coroutine, in try_now(), if the direction is ready;
//   - the driver, in serve(), for a waiter that edge() took out of the word. The waiter is granted the result of the
//     call, not the readiness. A spurious edge costs one call that would block.
//
// # No edge is lost
//
// The system reports an edge once, perhaps while a party on another thread makes a call (the watch assists). Whether
// that call has seen the new state is unknown. If the party stored the word without a look at the mark `edge`, then the
// edge would be lost and the waiter would wait for ever. Prevented: edge() sets the mark, each exchange of the party
// compares the word, and the party repeats the call.
//
// # The end of a wait by a stop or a deadline
//
// detach() takes the waiter out of the word or out of the line. While the driver makes the call of the waiter, the
// waiter is in neither. If the driver linked that waiter again after a call that would block, then the waiter would
// stay linked, because its detach() is over. Prevented: detach() sets the mark `over`, and the driver looks at it
// before it links.
//   - The coroutine does not run before the driver drops the waiter, so its buffer stays valid during the call.
//   - If the call had a result, the operation keeps it.
//   - The mark may arrive late, when the driver serves the next waiter already. So the driver also asks whether the
//     wait is decided.
//
// # The line
//
// A second operation of a direction waits in `line_`. Then the word is busy or a waiter, and has the mark `line`. The
// party that leaves the word with this mark keeps it busy, and hands the next waiter over to a driver (io_driver.hpp).
// If the waiter in the word is detached, the next waiter takes its place: the direction is still not ready.
//
// All operations of a direction wait for the same thing. If an operation waited for another thing, then it would hide
// the operations behind it, because its calls would block as long as it is the first one. Prevented: waits for the
// drain of a server are no transfers (drain_waits.hpp). One case remains: an idle read also waits for the end of its
// server. Behind another read it hears that end when it is the first. So let one coroutine read.
//
// # Jobs
//
// watch() links a job at an idle word alone. No party makes a call for it: edge() unlinks it, makes the word ready, and
// notifies it. If operations wait in the line behind it, the party of the edge keeps the word busy, notifies the job,
// and then leaves the word to the line.
//
// # Closing
//
// close() ends the waits with operation_canceled. If another party makes a call, that party ends them when it leaves
// the word. The last direction of a descriptor that is closed closes the descriptor (open_descriptor.hpp). So no fd is
// used again while a call uses it.
//
// # Whole transfers
//
// A transfer may be whole (write_all(), read_exactly()): after its first part no other transfer may move bytes. So its
// party keeps the word until the transfer ends or waits in the word. A coroutine that has moved a part in try_now()
// keeps the word until begin(); `holds` in the transfer says so.
//
// While a write is half done, `count_` has its count and a mark; the end of the write clears the mark. If its wait ends
// in another way, the mark stays: the next write fails with partial_write, until resume_after_partial(). The counts of
// failed operations are kept elsewhere (open_descriptor.hpp), because an operation that ends in the line must not
// change the count of the write before it.
//
// # Arms
//
// An arm of a select (transfer_arm) must make no call before its wait is decided. So the driver grants the arm at an
// edge, and the coroutine keeps the word until it has made its call; `holds` in the transfer says so. Meanwhile the
// mark `over` is beside the word: it tells a forked child that its parent has the word. If the grant is lost, another
// arm was granted, and the direction is left ready.
//
// # Late operations
//
// A descriptor may be closed and its place used again after an operation was made, also between two steps of begin().
// If the operation waited at the next descriptor, then it would take the bytes of that one. Prevented: while a party
// has the word of a direction, the place is not used again. So the party that takes the word compares the generations
// before its call, and begin() compares them after it has linked the waiter. An earlier look would prove nothing about
// the moment of linking.
//
// # Access
//
// try_now(), begin(): the thread of the operation's coroutine. edge(), serve(): the driver's owner, and an assistant.
// detach(): any thread. close(): any thread. watch(), unwatch(): the home of the job.
#pragma once
#include <hocket/io/detail/readiness_job.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/primitive.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

class direction final : public primitive::wait_source {
 public:
  // Ready: no call has been made.
  explicit direction(open_descriptor& owner) noexcept : record_(owner) {}
  direction(const direction&) = delete;
  direction& operator=(const direction&) = delete;

  // Makes the call, if the direction is ready. True: the transfer has ended, perhaps with an error.
  bool try_now(transfer& operation) noexcept;

  // The operation waits: see core/wait/seam/operation.hpp. `operation` stays where it is until the wait is over.
  void begin(primitive::suspension& wait, primitive::waiter& entry, transfer& operation) noexcept;

  // Links a job until the next edge. unwatch(): false, if an edge or a close has taken the job: it calls notify(), or
  // has called it.
  watch_outcome watch(readiness_job& job) noexcept;
  [[nodiscard]] bool unwatch(readiness_job& job) noexcept;

  // The system has reported an edge. Returns the waiter to be served; null: there is none.
  primitive::waiter* edge() noexcept;

  // For a waiter that edge() or pending gave. Returns the waiter if its transfer is to be continued later, else null.
  primitive::waiter* serve(primitive::waiter& entry) noexcept;

  // Ends the wait of a waiter that edge() or pending gave, without serving it.
  void fail(primitive::waiter& entry, int error) noexcept;

  // Ends all waits; see above. Called once.
  void close() noexcept;

  // Takes the word, so that no call is made until release_hold(). False: an operation is under way.
  bool try_hold() noexcept;
  void release_hold() noexcept { leave(false); }

  // In a forked child, under the mutex of the descriptor: see open_descriptor.hpp. The waiters of the parent count as
  // linked, until their waits end. A call of this process that may be under way is left alone.
  void abandon() noexcept;

  // An operation waits, or a party has the word.
  bool in_use() noexcept;
  // For dumps: 1 if operations wait, 0 if not. A guess while threads run.
  std::size_t waiting() const noexcept;

  // Makes a closed direction ready, for the next descriptor. No other thread uses it yet.
  void reopen() noexcept;

  open_descriptor& record() const noexcept { return record_; }
  // Instead of try_now(), for a write, if has_partial_write().
  [[HOCKET_NOINLINE, HOCKET_COLD]] bool try_behind_cut(transfer& operation) noexcept;
  // Instead of begin(), after a try_now() that was not enough.
  void release_held(transfer& operation) noexcept;

  // A write is half done, or has ended in its middle: the bytes of another write would follow its part.
  bool has_partial_write() const noexcept {
    // ORDER: relaxed, pairs with the store in record_part(): for the party that makes the calls.
    return (count_.load(std::memory_order_relaxed) & cut_mark) != 0;
  }
  // Permits other writes. Returns the count of that write, or `none` if there is none.
  std::size_t resume_after_partial(std::size_t none) noexcept {
    // ORDER: relaxed, as above.
    const std::size_t count = count_.exchange(0, std::memory_order_relaxed);
    return (count & cut_mark) ? count & ~cut_mark : none;
  }
  // For a count that the descriptor keeps here: of a direction that writes nothing.
  std::size_t count() const noexcept {
    // ORDER: relaxed, pairs with nothing: a number for the stream's users.
    return count_.load(std::memory_order_relaxed);
  }
  void set_count(std::size_t count) noexcept {
    // ORDER: relaxed, as above.
    count_.store(count, std::memory_order_relaxed);
  }
  const char* what() const noexcept override;
  [[nodiscard]] bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter& entry) noexcept override;

 private:
  using word = std::uintptr_t;
  using waiter = primitive::waiter;

  static constexpr word line = 1, over = 2, of_job = 2;
  static constexpr word idle = 0, ready = 4, busy = 8, closed = 12;
  static constexpr word edged = 16, closing = 32;  // beside busy
  static constexpr word first_address = 64;
  static constexpr std::size_t cut_mark = ~(~std::size_t{0} >> 1);  // in count_
  static_assert(alignof(waiter) >= 4);

  static bool is_linked(word value) noexcept { return value >= first_address; }  // a waiter or a job
  static bool is_job(word value) noexcept { return is_linked(value) && (value & of_job) != 0; }
  static word state_of(word value) noexcept { return value & 12; }  // not of an address
  static bool is(word value, word state) noexcept { return !is_linked(value) && state_of(value) == state; }
  static word word_of(waiter& entry) noexcept { return reinterpret_cast<word>(&entry); }
  static waiter& waiter_of(word value) noexcept { return *reinterpret_cast<waiter*>(value & ~line); }
  static word word_of(readiness_job& job) noexcept { return reinterpret_cast<word>(&job) | of_job; }
  static readiness_job& job_of(word value) noexcept {
    return *reinterpret_cast<readiness_job*>(value & ~(line | of_job));
  }
  static transfer& transfer_of(waiter& entry) noexcept { return *static_cast<transfer*>(entry.resource); }

  enum class listing : std::uint8_t { listed, taken, again, over, closed };

  [[HOCKET_COLD, HOCKET_NOINLINE]] bool take_job(word& expected) noexcept;
  void notify(readiness_job& job) noexcept;
  watch_outcome link(readiness_job& job) noexcept;
  bool is_late(const transfer& operation) const noexcept;
  waiter* end_served(waiter& entry, int error) noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void grant_arm(waiter& entry) noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] bool try_without_word(transfer& operation) noexcept;
  bool call_or_fail(transfer& operation) noexcept;
  bool is_behind_cut(const transfer& operation) const noexcept;
  bool hold_for(transfer& operation, bool goes_on) noexcept;
  void begin_held(waiter& entry, transfer& operation) noexcept;
  void record_part(const transfer& operation) noexcept;
  void record_end(const transfer& operation) noexcept;
  bool try_take() noexcept;
  bool carry_on(transfer& operation) noexcept;
  void ensure_attached(waiter& entry) noexcept;
  bool would_block() noexcept;
  void leave(bool drained) noexcept;
  static void end(waiter& entry, int error) noexcept;
  listing list(waiter& entry) noexcept;
  listing get_in_line(waiter& entry) noexcept;
  listing list_again(waiter& entry) noexcept;
  bool is_over(waiter& entry) noexcept;
  waiter* next_in_line() noexcept;
  void take_out_of_line(waiter& entry) noexcept;
  void finish_close() noexcept;
  bool take_out(waiter& entry) noexcept;
  void wake_behind_cut() noexcept;
  bool unlist(waiter& entry) noexcept;
  bool promote_instead_of(word expected) noexcept;
  bool take_out_of_word(word expected) noexcept;

  primitive::atomic<word> word_{ready};
  open_descriptor& record_;
  primitive::atomic<std::size_t> count_{0};  // of `out`: of a write that is half done, with cut_mark
  primitive::wait_queue line_;               // guarded by the mutex of the descriptor
};

}}}  // namespace hocket::detail
