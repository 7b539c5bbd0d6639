// Transfers as operations: what descriptors, streams and sockets return (core/wait/seam/operation.hpp).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/primitive.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A closed one, for descriptors of nothing.
open_descriptor& no_descriptor() noexcept;

[[HOCKET_COLD, HOCKET_NOINLINE]] failure failure_of_transfer(int error) noexcept;
// The same, of a transfer, whose count is kept.
[[HOCKET_COLD, HOCKET_NOINLINE]] failure failure_of_transfer(const transfer& failed) noexcept;

// A transfer of nothing: true. It makes no call, but fails if its descriptor is closed.
[[HOCKET_COLD, HOCKET_NOINLINE]] bool try_empty(transfer& operation) noexcept;

struct transfer_operation : transfer {
  static constexpr std::uint8_t price = 16;
  using transfer::transfer;

  void wait_failed() noexcept { side->record().save_count(*this); }

  bool try_now() noexcept { return side->try_now(*this); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { side->begin(wait, entry, *this); }
};

// A transfer that points to memory in its own operation. A fiber's operation has one place when it is tried, and
// another when it begins to wait, so Op::point() is called in both; false: the transfer has ended already. What was
// done is kept, whatever ends the wait.
template <class Op>
struct pointing_operation : transfer_operation {
  using transfer_operation::transfer_operation;

  bool try_now() noexcept {
    const bool tried = !self().point() || self().try_pointed();
    if (!tried) self().forget();
    return tried;
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    static_cast<void>(self().point());
    transfer_operation::begin(wait, entry);
  }
  bool has_it() const noexcept { return ended != 0; }
  bool try_pointed() noexcept { return transfer_operation::try_now(); }
  // What waits is a copy: an address of this place in it would be taken for one that others write to.
  void forget() noexcept { data = nullptr; }

 private:
  Op& self() noexcept { return static_cast<Op&>(*this); }
};

// Gives how many bytes were moved. They cannot be given back.
struct bytes_operation : transfer_operation {
  using value_type = std::size_t;
  static constexpr bool is_one_call = true;
  using transfer_operation::transfer_operation;

  bool try_now() noexcept { return size == 0 ? try_empty(*this) : transfer_operation::try_now(); }
  bool has_it() const noexcept { return ended != 0; }
  std::span<const std::byte> list_of_addresses() const noexcept;
  result<std::size_t> take() noexcept {
    if (error != 0) [[unlikely]]
      return failure_of_transfer(*this);
    return done;
  }
  void resumed() noexcept {
    if (holds != 0) [[unlikely]]
      side->release_held(*this);
  }
};

// An arm of a select, or of a group: one transfer of several, of which one at most may make its call. A driver grants
// the wait, and the party that resumes the coroutine makes the call (core/wait/detail/attempt.hpp). Between the two the
// coroutine has the word of the direction: so no other operation takes what the grant reports, and the next in the line
// is woken by what the call leaves.
template <class Op>
struct transfer_arm : Op {
  transfer_arm(const Op& op) noexcept : Op(op) {}

  bool has_it() const noexcept = delete;  // nothing is taken before it is granted
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    this->error = 0;
    this->ended = 0;
    this->arm = this->arm == 0 ? 1 : 2;
    Op::begin(wait, entry);
  }
  bool try_granted() noexcept {
    const bool tried = this->ended != 0 || Op::try_now();
    leave_word();
    return tried;
  }
  // Without an attempt, if its group wants none.
  void resumed() noexcept {
    leave_word();
    if constexpr (wants_resumption<Op>) Op::resumed();
  }

 private:
  void leave_word() noexcept {
    if (this->holds != 0) this->side->release_held(*this);
  }
};

template <class Op>
  requires(Op::is_one_call)
struct arm_of<Op> {
  using type = transfer_arm<Op>;
};

// Also writes the count of Op to a variable of the caller, whatever ends it.
template <class Op>
struct counting_operation : Op {
  template <class... Args>
  explicit counting_operation(std::size_t& into, Args&&... args) noexcept
      : Op(std::forward<Args>(args)...), moved(&into) {}

  result<std::size_t> take() noexcept {
    *moved = this->done;
    return Op::take();
  }
  void wait_failed() noexcept {
    *moved = this->done;
    Op::wait_failed();
  }

  std::size_t* moved;
};

// A wait for the drain of the server of a connection: it transfers nothing, and a grant takes nothing.
struct drain_operation : drain_wait {
  using value_type = void;

  explicit drain_operation(open_descriptor& awaited) noexcept;

  bool try_now() noexcept;
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  result<void> take() noexcept;
};

}}}  // namespace hocket::detail
