// The table of a dump: a row for each coroutine.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/registry.hpp>

#include "runtime/coroutine_name.hpp"
#include "runtime/wait_graph.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of coroutines in each state.
struct activity_counts {
  std::size_t begun = 0, running = 0, ready = 0, waiting = 0;
};

// Adds the members to `counts`. During a standstill of their threads.
void count(list<scheduled>& members, activity_counts& counts) noexcept;
void write_table_head(text_writer& out) noexcept;
// An address in code: the whole symbol, or else the file, and the offset from its beginning.
void write_code(text_writer& out, const void* code) noexcept;
// Below the table, during a standstill: a line if no timer, driver or coroutine will wake any of the `live` coroutines.
void write_stillness(text_writer& out, const activity_counts& counts, std::size_t live, bool wakes_some) noexcept;
void write_table(text_writer& out, list<scheduled>& members, const wait_graph& waits, time_point now) noexcept;

// One row. The coroutine must not run during the call.
void write_row(text_writer& out, const scheduled& coroutine, const wait_graph& waits, time_point now) noexcept;
// One row of a coroutine that may run: only its constant properties, under the lock of the registry. `state` is a word.
void write_constant_row(text_writer& out, const scheduled& coroutine, const char* state) noexcept;

}}}  // namespace hocket::detail
