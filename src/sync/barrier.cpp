#include <hocket/sync/barrier.hpp>

namespace hocket::inline HOCKET_ABI {

template <class Strength>
void basic_barrier<Strength>::expect_party() const noexcept {
  expects(arrived_ < parties_, "somebody arrived at a barrier of which all parties have dropped out",
          "who has dropped out does not arrive again; make the barrier for as many as come");
}

template <class Strength>
auto basic_barrier<Strength>::come(bool drops) noexcept -> arrival {
  waiter* first = nullptr;
  bool last = false;
  {
    locked guard(mutex_);
    expect_party();
    if (drops) --parties_;
    else ++arrived_;
    last = arrived_ == parties_;
    if (last) first = end_phase();
  }
  grant_all(first);
  return {last};
}

// The last one does not suspend. Nobody else can have ended its wait yet: it stands in no list, here or elsewhere.
template <class Strength>
void basic_barrier<Strength>::begin(suspension& wait, waiter& entry, arriving& request) noexcept {
  waiter* first = nullptr;
  {
    locked guard(mutex_);
    expect_party();
    if (arrived_ + 1 < parties_) {
      ++arrived_;
      entry.resource = &request;
      entry.enlist(wait, *this);
      line_.push_back(entry);
      return;
    }
    first = end_phase();
  }
  request.passed_ = request.last_ = true;
  static_cast<void>(wait.take_now(entry, *this));
  grant_all(first);
}

// Under the mutex: takes the line out and returns it chained, first come first.
template <class Strength>
waiter* basic_barrier<Strength>::end_phase() noexcept {
  arrived_ = 0;
  waiter* first = nullptr;
  while (!line_.empty()) {
    waiter& latest = line_.pop_back();
    arriving& request = request_of(latest);
    request.passed_ = true;
    request.next_ = std::exchange(first, &latest);
  }
  return first;
}

template <class Strength>
void basic_barrier<Strength>::grant_all(waiter* first) noexcept {
  while (first) {
    waiter* const next = request_of(*first).next_;
    first->grant();  // if others have ended its wait, it finds that it has passed
    first = next;
  }
}

template <class Strength>
bool basic_barrier<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!entry.linked()) return false;
  line_.erase(entry);
  --arrived_;
  return true;
}

template class basic_barrier<strength::shared>;
template class basic_barrier<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI
