// A library with a runtime that lives as long as the library is loaded: fault_62_after_main.cpp loads and unloads it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "regress/every_state.hpp"

#include <cstdlib>

namespace {

using namespace hocket_test;

struct tells_what_is_left {
  int* where = nullptr;
  ~tells_what_is_left() { *where = counted::live; }
};

// In the order of their construction; destroyed the other way round.
struct everything {
  surroundings in;
  std::vector<join_handle<>> handles;
  hocket::runtime rt{{.workers = 2}};
};
tells_what_is_left last;
everything all;

// The loader is locked meanwhile, as at the end.
const int used_while_it_is_loaded =
    hocket::sync_wait(hocket::spawn(all.rt, []() -> hocket::task<int> { co_return 7; }));

}  // namespace

// Leaves tasks in every state. At the end of the library it is told `where` how much of theirs is left. Once.
extern "C" [[gnu::visibility("default")]] void leave_tasks(int* where) {
  if (used_while_it_is_loaded != 7) std::abort();
  last.where = where;
  all.handles = spawn_in_every_state(all.rt, all.in, busy::yes);
}
