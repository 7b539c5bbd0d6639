#include "manager/groups.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void groups::join(managed_entry& entry) {
  table& group_table = table_of(entry.group_id);
  locked guard(group_table.mutex);
  group& joined_group = group_table.lists[entry.group_id.value];
  joined_group.members.push_back(entry.membership);
  ++joined_group.size;
  entry.joined_group = &joined_group;
}

void groups::leave(managed_entry& entry) noexcept {
  table& group_table = table_of(entry.group_id);
  locked guard(group_table.mutex);
  list<group_member>::erase(entry.membership);
  group& left_group = *std::exchange(entry.joined_group, nullptr);
  --left_group.size;
  drop_empty(group_table, entry.group_id, left_group);
}

std::size_t groups::size(task_group id) noexcept {
  table& group_table = table_of(id);
  locked guard(group_table.mutex);
  const auto found = group_table.lists.find(id.value);
  return found == group_table.lists.end() ? 0 : found->second.size;
}

// Marks count as members, so the thread that unlinks the last member or mark erases the list.
void groups::drop_empty(table& group_table, task_group id, const group& candidate) noexcept {
  if (candidate.members.empty()) group_table.lists.erase(id.value);
}

groups::walk::walk(groups& all, task_group id) noexcept : table_(all.table_of(id)), id_(id) {
  locked guard(table_.mutex);
  const auto found = table_.lists.find(id.value);
  if (found == table_.lists.end()) return;
  group_ = &found->second;
  group_->members.push_front(position_);
  group_->members.push_back(end_);
}

groups::walk::~walk() {
  if (!group_) return;
  locked guard(table_.mutex);
  list<group_member>::erase(position_);
  list<group_member>::erase(end_);
  drop_empty(table_, id_, *group_);
}

std::size_t groups::walk::next(task_id* buffer, std::size_t capacity) noexcept {
  if (!group_) return 0;
  locked guard(table_.mutex);
  std::size_t found = 0;
  group_member* member = &list<group_member>::after(position_);
  for (; member != &end_ && found < capacity; member = &list<group_member>::after(*member))
    if (member->entry) buffer[found++] = member->entry->id();
  list<group_member>::erase(position_);
  group_->members.insert_before(*member, position_);
  return found;
}

}}}  // namespace hocket::detail
