// How reports name a coroutine.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Writes the name in quotes, and the id.
void write_name(text_writer& out, const scheduled& coroutine) noexcept;
// Writes the id that a task manager gave the coroutine, if any.
void write_id(text_writer& out, const scheduled& coroutine) noexcept;

}}}  // namespace hocket::detail
