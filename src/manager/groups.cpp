#include "manager/groups.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void groups::join(managed_entry& entry) {
  table& here = table_of(entry.belongs_to);
  locked guard(here.mutex);
  group& in = here.known[entry.belongs_to.value];
  in.members.push_back(entry.membership);
  ++in.size;
  entry.in = &in;
}

void groups::leave(managed_entry& entry) noexcept {
  table& here = table_of(entry.belongs_to);
  locked guard(here.mutex);
  list<group_member>::erase(entry.membership);
  group& was_in = *std::exchange(entry.in, nullptr);
  --was_in.size;
  drop_empty(here, entry.belongs_to, was_in);
}

std::size_t groups::size(task_group of) noexcept {
  table& here = table_of(of);
  locked guard(here.mutex);
  const auto found = here.known.find(of.value);
  return found == here.known.end() ? 0 : found->second.size;
}

// Marks count, too: whoever takes the last one out does this.
void groups::drop_empty(table& in, task_group of, const group& maybe) noexcept {
  if (maybe.members.empty()) in.known.erase(of.value);
}

groups::walk::walk(groups& all, task_group of) noexcept : table_(all.table_of(of)), of_(of) {
  locked guard(table_.mutex);
  const auto found = table_.known.find(of.value);
  if (found == table_.known.end()) return;
  group_ = &found->second;
  group_->members.push_front(come_to_);
  group_->members.push_back(end_);
}

groups::walk::~walk() {
  if (!group_) return;
  locked guard(table_.mutex);
  list<group_member>::erase(come_to_);
  list<group_member>::erase(end_);
  drop_empty(table_, of_, *group_);
}

std::size_t groups::walk::next(task_id* into, std::size_t room) noexcept {
  if (!group_) return 0;
  locked guard(table_.mutex);
  std::size_t found = 0;
  group_member* at = &list<group_member>::after(come_to_);
  for (; at != &end_ && found < room; at = &list<group_member>::after(*at))
    if (at->of) into[found++] = at->of->id();
  list<group_member>::erase(come_to_);
  group_->members.insert_before(*at, come_to_);
  return found;
}

}}}  // namespace hocket::detail
