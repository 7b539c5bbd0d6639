// The fibers of one thread that may hibernate.
//
// They are found by looking at each of them from time to time, as the clock algorithm of paging does, so that the way
// of a wait and of a resume is as short as ever. There is one group for each executor and each `hibernate_after`; its
// timer fires every `hibernate_after`, and each member that waits then is marked as *aged*. A resume takes the mark
// away (it is one of the rare cases that a resume tests in one go). Who still has it when the timer fires again has
// been parked all the time, and is packed. The timer is attached while the group has members.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class idle_fibers {
 public:
  // Of `thread`; made if there is none. Null: there is no memory.
  static idle_fibers* for_thread(fiber_thread& thread) noexcept;

  idle_fibers() noexcept = default;
  idle_fibers(const idle_fibers&) = delete;
  idle_fibers& operator=(const idle_fibers&) = delete;
  ~idle_fibers();

  // The fiber may hibernate, from its first run to its end. Throws bad_alloc.
  void add(scheduled_fiber& fiber);
  void remove(scheduled_fiber& fiber) noexcept;

  // See hibernate_parked().
  std::size_t pack_waiting() noexcept;

 private:
  struct group;
  group& group_of(const scheduled_fiber& fiber);
  void delete_group(group& empty) noexcept;

  group* groups_ = nullptr;
};

// A fiber that begins enters the list, if it may hibernate; unless it is kept, it leaves again.
class idle_membership {
 public:
  idle_membership(fiber_thread& thread, scheduled_fiber& fiber);  // throws bad_alloc
  idle_membership(const idle_membership&) = delete;
  idle_membership& operator=(const idle_membership&) = delete;
  ~idle_membership();
  bool commit() noexcept;  // whether it is in the list

 private:
  scheduled_fiber& fiber_;
  idle_fibers* list_ = nullptr;
};

}}}  // namespace hocket::detail
