#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/time/within.hpp>

#include "net/lingerer.hpp"
#include "net/memoryless_wait.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

// One descriptor that lingers.
struct lingerer::entry : list_node {
  entry(open_descriptor& candidate, bool counts) noexcept : record(candidate), is_counted(counts) {}
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  // Null: there is no memory.
  static entry* make(open_descriptor& candidate, bool is_counted) noexcept try {
    return ::new (allocate_frame(sizeof(entry))) entry(candidate, is_counted);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  static void free(entry& candidate) noexcept {
    candidate.~entry();
    release_frame(&candidate, sizeof(entry));
  }

  open_descriptor& record;
  const bool is_counted;
  time_point begun{}, progressed{}, next{};
  std::size_t dropped = 0, unsent = 0;
  std::size_t looks = 0;
};

// Ends the lingerer with its coroutine, also if that is killed.
class lingerer::end_guard {
 public:
  explicit end_guard(lingerer& ended) noexcept : lingerer_(ended) {}
  end_guard(const end_guard&) = delete;
  end_guard& operator=(const end_guard&) = delete;
  ~end_guard() { lingerer_.end(); }

 private:
  lingerer& lingerer_;
};

// --- any thread

bool lingerer::take(open_descriptor& closed, bool is_counted) noexcept {
  entry* const fresh = entry::make(closed, is_counted);
  if (!fresh) return false;
  {
    const locked guard(arrivals_mutex_);
    if (is_counted) count_.share();
    arrived_.push_back(*fresh);
  }
  news_.set();
  return true;
}

void lingerer::end() noexcept {
  leave();
  refused_.leave();
  list<entry> all;
  {
    const locked guard(arrivals_mutex_);
    over_ = true;
    all.splice_back(arrived_);
  }
  {
    const locked guard(waiting_mutex_);
    for (list<entry>& some : waiting_) all.splice_back(some);
  }
  news_.set();
  close_all(all);
}

bool lingerer::end_oldest() noexcept {
  list<entry> ended;
  {
    const locked guard(waiting_mutex_);
    take_arrived(time_here());
    if (entry* const candidate = oldest()) {
      list<entry>::erase(*candidate);
      ended.push_back(*candidate);
    }
  }
  const bool has_ended = !ended.empty();
  close_all(ended);
  return has_ended;
}

// Under waiting_mutex_.
lingerer::entry* lingerer::oldest() noexcept {
  entry* found = nullptr;
  std::size_t looks = 0;
  for (std::size_t i = intervals; i-- > 0 && !found;) {
    for (entry& candidate : waiting_[i]) {
      if (candidate.is_counted && (!found || candidate.begun < found->begun)) found = &candidate;
      if (++looks == most_looks) return found;
    }
  }
  return found;
}

bool lingerer::is_ended() noexcept {
  const locked guard(arrivals_mutex_);
  return over_;
}

// Without locks: whoever waits for a permit is woken.
void lingerer::close_all(list<entry>& done) noexcept {
  while (!done.empty()) {
    entry& candidate = done.pop_front();
    const bool is_counted = candidate.is_counted;
    candidate.record.end_lingering();
    entry::free(candidate);
    if (is_counted) count_.end();
  }
}

// --- the coroutine

task<> lingerer::run() {
  const end_guard guard(*this);
  while (!is_ended()) {
    const time_point next = inspect_all();
    if (next <= time_here()) {
      static_cast<void>(co_await yield());
      continue;
    }
    const result<void> news = co_await memoryless_wait(within(next, news_.wait()));
    if (!news && news.error() == std::errc::operation_canceled) break;
  }
}

// When the next look is due.
time_point lingerer::inspect_all() noexcept {
  const time_point present = time_here();
  list<entry> done;
  time_point next{};
  {
    const locked guard(waiting_mutex_);
    take_arrived(present);
    std::size_t count = 0;
    for (list<entry>& some : waiting_) {
      for (; !some.empty() && some.front().next <= present && count != most_looks; ++count)
        inspect(some.pop_front(), present, done);
    }
    next = next_look();
  }
  close_all(done);
  return next;
}

// Under waiting_mutex_; so is the rest. They are looked at first.
void lingerer::take_arrived(time_point present) noexcept {
  list<entry> arrived;
  {
    const locked guard(arrivals_mutex_);
    arrived.splice_back(arrived_);
  }
  while (!arrived.empty()) {
    entry& candidate = arrived.pop_back();
    candidate.begun = candidate.progressed = candidate.next = present;
    waiting_.front().push_front(candidate);
  }
}

void lingerer::inspect(entry& candidate, time_point present, list<entry>& done) noexcept {
  if (is_done(candidate, present)) return done.push_back(candidate);
  const std::size_t interval = std::min(candidate.looks++, intervals - 1);
  candidate.next = present + std::chrono::milliseconds(1) * (1 << interval);
  waiting_[interval].push_back(candidate);
}

bool lingerer::is_done(entry& candidate, time_point present) noexcept {
  transfer drop(candidate.record.in, call_kind::discard, nullptr, 0);
  call_end end = call_end::more;
  while (end == call_end::more && candidate.dropped + drop.done < most_bytes) end = candidate.record.carry_out(drop);
  candidate.dropped += drop.done;
  const bool lacks_memory = drop.error == ENOMEM || drop.error == ENOBUFS;  // then the next look finds out
  if ((drop.ended != 0 && !lacks_memory) || candidate.dropped >= most_bytes) return true;
  const std::size_t unsent = candidate.record.system().unsent(candidate.record);
  if (unsent == 0 && candidate.record.recorded_end() == stream_end::idle_lingers) return true;
  if (drop.done != 0 || unsent < candidate.unsent) candidate.progressed = present;
  candidate.unsent = unsent;
  return present - candidate.progressed >= patience || present - candidate.begun >= longest;
}

time_point lingerer::next_look() noexcept {
  time_point next = time_point::max();
  for (list<entry>& some : waiting_) {
    if (!some.empty()) next = std::min(next, some.front().next);
  }
  return next;
}

}}}  // namespace hocket::detail
