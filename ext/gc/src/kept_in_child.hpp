// What a list of threads becomes in a child by fork().
#pragma once
#include <hocket/base/seam/list.hpp>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

// Only the thread that forked is there: `own`, if it was in the list. The others' entries are not touched.
template <class Thread>
void keep_alone(hocket::detail::list<Thread>& threads, Thread* own) noexcept {
  using node = hocket::detail::list_node;
  ::new (static_cast<void*>(&threads)) hocket::detail::list<Thread>;
  if (!own) return;
  ::new (static_cast<void*>(static_cast<node*>(own))) node;
  threads.push_back(*own);
}

}}}  // namespace hocket::gc::detail
