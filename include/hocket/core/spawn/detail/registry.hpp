// The list of the registries of a process.
#pragma once
#include <hocket/core/spawn/seam/registry.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The registries of the process, the newest first. Never destroyed: a loop may be older than any static object.
struct registry_list {
  registry* first = nullptr;  // the first word, so that a debugger needs no more than the symbol
  thread_mutex mutex;
};
extern registry_list live_registries;

}}}  // namespace hocket::detail
