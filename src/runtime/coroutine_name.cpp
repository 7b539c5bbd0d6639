#include "runtime/coroutine_name.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void write_name(text_writer& out, const scheduled& coroutine) noexcept {
  write_id(out.literal("\"").text(coroutine.name()).literal("\""), coroutine);
}

void write_id(text_writer& out, const scheduled& coroutine) noexcept {
  if (const std::uint64_t id = coroutine.target().coroutine_id()) out.literal(" #").number(id);
}

}}}  // namespace hocket::detail
