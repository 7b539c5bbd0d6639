#include <hocket/coro/async_generator.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void expect_idle(const coroutine_header& body) noexcept {
  debug_expects(!(body.reserved & task_bit::next_pending) || !current_executor(),
                "an async_generator was destroyed while a next() is under way",
                "let the reader's next() end first: cancel the reader, and join it");
}

}}}  // namespace hocket::detail
