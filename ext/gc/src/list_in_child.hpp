// Repairs a list of threads in a child of fork().
#pragma once
#include <hocket/base/seam/list.hpp>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

// Makes `own` the only entry, or empties the list if `own` is null: the child has only the thread that forked. Does not
// touch the other entries.
template <class Thread>
void retain_only(hocket::detail::list<Thread>& threads, Thread* own) noexcept {
  using node = hocket::detail::list_node;
  ::new (static_cast<void*>(&threads)) hocket::detail::list<Thread>;
  if (!own) return;
  ::new (static_cast<void*>(static_cast<node*>(own))) node;
  threads.push_back(*own);
}

}}}  // namespace hocket::gc::detail
