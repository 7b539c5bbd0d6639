#include <hocket/sync/barrier.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

template <class Strength>
void basic_barrier<Strength>::expect_party() const noexcept {
  expects(arrived_ < parties_, "a party arrived at a barrier of which all parties have dropped out",
          "a party that has dropped out does not arrive again; make the barrier for all parties");
}

template <class Strength>
auto basic_barrier<Strength>::count_arrival(bool drops) noexcept -> arrival {
  grants passed;
  bool last = false;
  {
    locked guard(mutex_);
    expect_party();
    if (drops) --parties_;
    else ++arrived_;
    last = arrived_ == parties_;
    if (last) end_phase(passed);
  }
  passed.post();
  return {last};
}

// The last arrival does not suspend. No other party can have ended its wait yet: its waiter is linked in no list.
template <class Strength>
void basic_barrier<Strength>::begin(suspension& wait, waiter& entry, arriving& request) noexcept {
  grants passed;
  {
    locked guard(mutex_);
    expect_party();
    if (arrived_ + 1 < parties_) {
      ++arrived_;
      entry.resource = &request;
      waiters_.enlist(wait, *this, entry);
      return;
    }
    end_phase(passed);
  }
  request.passed_ = request.last_ = true;
  static_cast<void>(wait.take_now(entry, *this));
  passed.post();
}

// Under the mutex. If a stop has ended a wait, its waiter is marked, too.
template <class Strength>
void basic_barrier<Strength>::end_phase(grants& passed) noexcept {
  arrived_ = 0;
  for (waiter& entry : waiters_) request_of(entry).passed_ = true;
  waiters_.claim_all(passed);
}

template <class Strength>
bool basic_barrier<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!waiters_.take_out(entry)) return false;
  if (!request_of(entry).passed_) --arrived_;
  return true;
}

template class basic_barrier<strength::shared>;
template class basic_barrier<strength::unsync>;

}}  // namespace hocket
