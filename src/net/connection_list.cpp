#include <hocket/io/seam/descriptor_table.hpp>
#include <hocket/net/detail/connection_list.hpp>
#include <hocket/primitive.hpp>

#include <algorithm>
#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

// In the unit of idle_time(), without its wrap.
std::uint64_t time_of(time_point at) noexcept {
  return static_cast<std::uint64_t>(std::max<duration>(at.time_since_epoch(), {}).count()) >> idle_time_bits;
}
time_point point_of(std::uint64_t time) noexcept {
  constexpr std::uint64_t last = static_cast<std::uint64_t>(duration::max().count()) >> idle_time_bits;
  return time < last ? time_point(duration(static_cast<duration::rep>(time << idle_time_bits))) : time_point::max();
}

// `since` is at most half of the wrap before `present`, or counts as now.
std::uint64_t age_of(std::uint32_t since, std::uint64_t present) noexcept {
  const std::uint32_t age = static_cast<std::uint32_t>(present) - since;
  return age >> 31 != 0 ? 0 : std::min<std::uint64_t>(age, present);
}

}  // namespace

void connection_list::set_max_idle(duration limit) noexcept {
  const locked guard(mutex_);
  if (limit > std::chrono::hours(24) * 24) return;  // half of the wrap
  limit_ = time_of(time_point(limit)) + 2;          // never early, though times are rounded down
  span_ = std::max<std::uint64_t>(1, limit_ / slots_of_limit);
}

void connection_list::add(listed_connection& added, const open_descriptor& record, time_point now) noexcept {
  bool was_empty = false;
  {
    const locked guard(mutex_);
    added.tag_ = descriptor_table::tag_of(record);
    advance(time_of(now));
    place(added, time_of(now));
    was_empty = size_++ == 0;
  }
  if (was_empty) changed_.set();
}

void connection_list::remove(listed_connection& ended) noexcept {
  const locked guard(mutex_);
  if (!ended.linked()) return;
  list<listed_connection>::erase(ended);
  --size_;
}

// Under the mutex; so are the next ones. What is older than the oldest slot goes there.
void connection_list::advance(std::uint64_t present) noexcept {
  const std::uint64_t newest = present / span_;
  if (newest <= newest_) return;
  list<listed_connection> old;
  const std::uint64_t steps = std::min(newest - newest_, slots);
  for (std::uint64_t i = 1; i <= steps; ++i) old.splice_back(slot_of(newest_ + i));
  newest_ = newest;
  old.splice_back(slot_of(oldest()));
  slot_of(oldest()).splice_back(old);
}

void connection_list::place(listed_connection& placed, std::uint64_t since) noexcept {
  slot_of(std::clamp(since / span_, oldest(), newest_)).push_back(placed);
}

// It has left its slot, and is placed again. True: it is to end.
template <class IsOld>
bool connection_list::examine(listed_connection& candidate, std::uint64_t present, ending& ended,
                              IsOld is_old) noexcept {
  const open_descriptor* const record = descriptor_table::find(candidate.tag_);
  const std::uint32_t since = record && !record->ends_when_idle() ? record->idle_since() : 0;
  if (since == 0) return place(candidate, present), false;
  const std::uint64_t age = age_of(since, present);
  if (!is_old(age)) return place(candidate, present - age), false;
  ended = {candidate.tag_, since};
  place(candidate, present);
  return true;
}

// The connections of that slot have been idle for too long, unless they are elsewhere by now.
bool connection_list::is_due(std::uint64_t slot, std::uint64_t present) const noexcept {
  return limit_ != no_limit && (slot + 1) * span_ + limit_ <= present;
}

time_point connection_list::next_look() noexcept {
  for (std::uint64_t slot = oldest(); slot <= newest_ && limit_ != no_limit; ++slot) {
    if (!slot_of(slot).empty()) return point_of((slot + 1) * span_ + limit_);
  }
  return time_point::max();
}

time_point connection_list::end_idle(time_point now) noexcept {
  const std::uint64_t present = time_of(now);
  std::array<ending, most_looks> ended;
  std::size_t count = 0, looks = 0;
  time_point next{};
  {
    const locked guard(mutex_);
    advance(present);
    const auto is_old = [this](std::uint64_t age) noexcept { return age >= limit_; };
    for (std::uint64_t slot = oldest(); is_due(slot, present) && looks != most_looks; ++slot) {
      for (; !slot_of(slot).empty() && looks != most_looks; ++looks) {
        if (examine(slot_of(slot).pop_front(), present, ended[count], is_old)) ++count;
      }
    }
    next = next_look();
  }
  for (std::size_t i = 0; i != count; ++i) end(ended[i]);
  return next;
}

bool connection_list::evict(time_point now) noexcept {
  const std::uint64_t present = time_of(now);
  ending ended{};
  bool has_found = false;
  {
    const locked guard(mutex_);
    advance(present);
    std::size_t looks = 0;
    for (std::uint64_t slot = oldest(); slot <= newest_ && !has_found && looks != most_looks; ++slot)
      has_found = evict_from(slot, present, looks, ended);
  }
  if (has_found) end(ended);
  return has_found;
}

// Connections that are placed in the same slot again follow the rest.
bool connection_list::evict_from(std::uint64_t slot, std::uint64_t present, std::size_t& looks,
                                 ending& ended) noexcept {
  list<listed_connection> candidates;
  candidates.splice_back(slot_of(slot));
  const auto is_old = [&](std::uint64_t age) noexcept { return (present - age) / span_ <= slot; };
  bool has_found = false;
  for (; !candidates.empty() && !has_found && looks != most_looks; ++looks)
    has_found = examine(candidates.pop_front(), present, ended, is_old);
  candidates.splice_back(slot_of(slot));
  slot_of(slot).splice_back(candidates);
  return has_found;
}

// --- phases

void connection_list::add_phase(phased_connection& begun) noexcept {
  bool was_empty = false;
  {
    const locked guard(mutex_);
    was_empty = phases_.empty();
    phases_.push_back(begun);
    if (was_empty) next_check_ = time_point::min();
  }
  if (was_empty) changed_.set();
}

void connection_list::remove_phase(phased_connection& ended) noexcept {
  const locked guard(mutex_);
  if (ended.linked()) list<phased_connection>::erase(ended);
}

// A connection leaves the lists under the mutex before it ends, so its job may be notified under it.
time_point connection_list::check_phases(time_point present) noexcept {
  const locked guard(mutex_);
  if (phases_.empty()) return time_point::max();
  if (present < next_check_) return next_check_;
  for (list<phased_connection>::iterator position = phases_.begin(); position != phases_.end();) {
    phased_connection& candidate = *position++;
    const phased_connection::verdict found = candidate.check(present);
    if (found == phased_connection::verdict::no_phase) list<phased_connection>::erase(candidate);
    else if (found == phased_connection::verdict::late) job_of(candidate).notify(job_reason::late);
  }
  return next_check_ = phases_.empty() ? time_point::max() : present + std::chrono::seconds(1);
}

void connection_list::notify_jobs(std::uint32_t reasons) noexcept {
  const locked guard(mutex_);
  for (list<listed_connection>& slot : slots_) {
    for (listed_connection& listed : slot) {
      if (listed.is_job_) job_of(listed).notify(reasons);
    }
  }
}

// --- the end of one

// Without the mutex. Another connection may have the descriptor by now.
void connection_list::end(const ending& ended) noexcept {
  if (open_descriptor* const record = descriptor_table::find(ended.tag))
    record->evict(static_cast<std::uint32_t>(ended.tag >> 32), ended.since);
}

void connection_list::close() noexcept {
  {
    const locked guard(mutex_);
    is_closed_ = true;
  }
  changed_.set();
}

bool connection_list::is_closed() noexcept {
  const locked guard(mutex_);
  return is_closed_;
}

}}}  // namespace hocket::detail
