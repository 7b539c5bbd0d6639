// How reports name a coroutine.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// In quotes, with its id.
void write_name(text_writer& out, const scheduled& coroutine) noexcept;
// The id that a task manager gave it, if any.
void write_id(text_writer& out, const scheduled& coroutine) noexcept;

}}}  // namespace hocket::detail
