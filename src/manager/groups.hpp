// The members of each group of a task manager: lists by the number of the group, in eight tables with a lock each.
#pragma once
#include <manager/entry.hpp>
#include <unordered_map>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class groups {
  struct alignas(64) table {
    thread_mutex mutex;
    std::unordered_map<std::uint64_t, group> lists;
  };

 public:
  void join(managed_entry& entry);  // throws bad_alloc
  void leave(managed_entry& entry) noexcept;
  std::size_t size(task_group id) noexcept;

  // Walks over a group in batches, without the lock in between. Two marks are in the list: the position, and the end as
  // it was at the begin. New members are linked behind the second mark.
  class walk {
   public:
    walk(groups& all, task_group id) noexcept;
    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;
    ~walk();

    // Writes the ids of the next members, and returns their number. 0: the end.
    std::size_t next(task_id* buffer, std::size_t capacity) noexcept;

   private:
    table& table_;
    const task_group id_;
    group* group_ = nullptr;
    group_member position_, end_;
  };

 private:
  static constexpr std::size_t tables = 8;
  table& table_of(task_group id) noexcept { return tables_[(id.value * 0x9e37'79b9'7f4a'7c15u) >> 61]; }
  static void drop_empty(table& group_table, task_group id, const group& candidate) noexcept;

  table tables_[tables];
};

}}}  // namespace hocket::detail
