// runtime_dump: a table of the coroutines of a runtime. All reads happen during a standstill.
//
// # A worker that does not stop
//
// It is in one coroutine: the turn and the running context that the asking thread notes after its patience. As long as
// both are the same (is_unchanged()), the worker has resumed nothing else, and so no other coroutine runs anywhere. The
// dump checks that before it reads each coroutine of a stopped worker. If the worker has left its coroutine, it may run
// any coroutine, and from then on rows have only what never changes.
//
//   the coroutine                        its row has
//   runs on a worker in motion           "running", and what never changes
//   began on a stopped worker            all, as long as the workers in motion have stayed
//   began on a worker in motion          "unknown", and what never changes
//
// Registries are locked meanwhile: a coroutine that began on a stopped worker may end on a worker in motion.
//
// Hazard: if the worker in motion grants a wait and destroys its source between the check and the read, then the dump
// reads a source that is gone. Any thread of the program of another kind can do the same (suspension::awaited()).
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
  // While a worker does not stop.
  void write_known_part(text_writer& out, const wait_graph& waits) noexcept;
  void connect_known_part(wait_graph& waits) noexcept;
  std::size_t begun() noexcept;
  bool all_unchanged() noexcept;
  bool is_in_motion(const scheduled& member) noexcept;

  admission& pool_;
};

}}}  // namespace hocket::detail
