// The fibers of one thread that may hibernate.
//
// Each fiber is scanned from time to time, as in the clock algorithm of paging. So waits and resumes pay nothing. There
// is one group for each executor and each `hibernate_after`. Its timer fires every `hibernate_after`, and marks each
// waiting member as *aged*. A resume clears the mark (one of the rare cases that a resume tests together). A member
// that is still aged at the next timer has been parked all the time, and is packed. The timer is attached while the
// group has members.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class idle_fibers {
 public:
  // Returns the list of `thread`; creates it if there is none. Null: there is no memory.
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

// Enters a beginning fiber in the list, if it may hibernate. Without commit() the fiber leaves again.
class idle_membership {
 public:
  idle_membership(fiber_thread& thread, scheduled_fiber& fiber);  // throws bad_alloc
  idle_membership(const idle_membership&) = delete;
  idle_membership& operator=(const idle_membership&) = delete;
  ~idle_membership();
  bool commit() noexcept;  // returns whether the fiber is in the list

 private:
  scheduled_fiber& fiber_;
  idle_fibers* list_ = nullptr;
};

}}}  // namespace hocket::detail
