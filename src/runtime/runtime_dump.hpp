// runtime_dump: a table of the coroutines of a runtime. All reads happen during a standstill.
//
// # A worker that does not stop
//
// If a worker has not stopped in time, the worker is *in motion*: it is inside one coroutine. The dump records the turn
// and the running context of this worker. As long as both are the same (is_unchanged()), the worker has resumed no
// other coroutine. So if this holds for all workers in motion, only their recorded coroutines run. The dump checks this
// before it reads each coroutine of a stopped worker. If a worker in motion has left its coroutine, it may run any
// coroutine. From then on rows have only constant properties.
//
//   the coroutine                        its row has
//   runs on a worker in motion           "running", and its constant properties
//   began on a stopped worker            everything, as long as the workers in motion are unchanged
//   began on a worker in motion          "unknown", and its constant properties
//
// The registry of a worker is locked while the dump reads its coroutines: a coroutine that began on a stopped worker
// may end on a worker in motion.
//
// Hazard. If a worker in motion grants a wait and destroys the source of the wait between the check and the read, then
// the dump reads a source that does not exist. Not prevented: any other thread of the program can do the same, without
// a worker in motion (suspension::awaited()).
#pragma once
#include <hocket/base/seam/text_writer.hpp>

#include "runtime/admission.hpp"
#include "runtime/table.hpp"
#include "runtime/wait_graph.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class runtime_dump {
 public:
  explicit runtime_dump(admission& pool) noexcept : pool_(pool) {}

  // Writes the table to `fd`; if `only_circles`, only if coroutines wait for one another in a circle.
  void dump(int fd, bool only_circles) noexcept;
  void notice_circles() noexcept;

 private:
  // Calls visit(whole, counts, waits) during a standstill. `whole`: all workers have stopped.
  template <class F>
  void inspect(F visit) noexcept;
  void write_holder(text_writer& out, std::size_t index) noexcept;
  void write_coroutines(text_writer& out, const activity_counts& counts, const wait_graph& waits) noexcept;
  // For a dump with a worker in motion.
  void write_known_part(text_writer& out, const wait_graph& waits) noexcept;
  void connect_known_part(wait_graph& waits) noexcept;
  std::size_t begun() noexcept;
  bool all_unchanged() noexcept;
  bool is_in_motion(const scheduled& member) noexcept;

  admission& pool_;
};

}}}  // namespace hocket::detail
