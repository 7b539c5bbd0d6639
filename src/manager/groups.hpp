// Which places belong to one number: lists by group, in eight tables with locks of their own.
#pragma once
#include <manager/entry.hpp>
#include <unordered_map>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class groups {
  struct alignas(64) table {
    thread_mutex mutex;
    std::unordered_map<std::uint64_t, group> known;
  };

 public:
  void join(managed_entry& entry);  // throws bad_alloc
  void leave(managed_entry& entry) noexcept;
  std::size_t size(task_group of) noexcept;

  // Goes through a group a few members at a time, without its lock in between: two marks in the list say how far it has
  // come, and what was there when it began. New members come behind the second one.
  class walk {
   public:
    walk(groups& all, task_group of) noexcept;
    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;
    ~walk();

    // The ids of the next members; none: that was all.
    std::size_t next(task_id* into, std::size_t room) noexcept;

   private:
    table& table_;
    const task_group of_;
    group* group_ = nullptr;
    group_member come_to_, end_;
  };

 private:
  static constexpr std::size_t tables = 8;
  table& table_of(task_group of) noexcept { return tables_[(of.value * 0x9e37'79b9'7f4a'7c15u) >> 61]; }
  static void drop_empty(table& in, task_group of, const group& maybe) noexcept;

  table tables_[tables];
};

}}}  // namespace hocket::detail
