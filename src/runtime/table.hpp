// The lines of a dump: coroutines, one each.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/registry.hpp>

#include "runtime/coroutine_name.hpp"
#include "runtime/wait_graph.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// How many are in which state.
struct activity_counts {
  std::size_t begun = 0, running = 0, ready = 0, waiting = 0;
};

// While those who run the coroutines stand still.
void count(list<scheduled>& members, activity_counts& seen) noexcept;
void write_table_head(text_writer& out) noexcept;
// An address in code: the symbol, uncut, else the file; and how far behind its beginning.
void write_code(text_writer& out, const void* code) noexcept;
// Below the table, while all stand still: that nothing here will wake any of `live`, if that is so.
void write_stillness(text_writer& out, const activity_counts& seen, std::size_t live, bool wakes_some) noexcept;
void write_table(text_writer& out, list<scheduled>& members, const wait_graph& waits, time_point now) noexcept;

// One row. While the coroutine cannot run.
void write_row(text_writer& out, const scheduled& coroutine, const wait_graph& waits, time_point now) noexcept;
// While it may run: only what never changes, under the lock of the registry. `state` is a word.
void write_constant_row(text_writer& out, const scheduled& coroutine, const char* state) noexcept;

}}}  // namespace hocket::detail
