// The queue of waiters of one source, first in, first out. The source's lock guards it.
//
// If a stop or another source ends a wait, the waiter stays linked here until that party calls detach(). Until
// then the claim_ functions skip the waiter.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

// Every function is called under the lock of the source.
class wait_queue : public detail::list<waiter> {
 public:
  // Registrar only. Appends `entry`. After commit_first() the registrar must not touch the wait again. Returns true,
  // for begin() to return.
  bool enlist(suspension& wait, wait_source& source, waiter& entry) noexcept {
    entry.enlist_or_stay(wait, source);
    push_back(entry);
    return true;
  }

  // Claims and unlinks the first waiter with an undecided wait. O(waiters that are skipped).
  [[nodiscard]] grant claim_first() noexcept;
  // Claims and unlinks all waiters with an undecided wait, in one pass. Calls `each` with every claimed waiter.
  template <class Each>
  void claim_all(grants& won, Each each) noexcept {
    for (iterator position = begin(); position != end();) {
      waiter& entry = *position++;
      grant claimed = entry.claim();
      if (!claimed) continue;
      erase(entry);
      each(entry);
      won.add(std::move(claimed));
    }
  }
  void claim_all(grants& won) noexcept;

  // For detach(). True: the waiter was linked, and is unlinked now.
  [[nodiscard]] static bool take_out(waiter& entry) noexcept {
    if (!entry.linked()) return false;
    erase(entry);
    return true;
  }
};

}}}  // namespace hocket::primitive
