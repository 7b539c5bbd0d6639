// waited: the result of a wait that may be ignored.
#pragma once
#include <hocket/base/result.hpp>

namespace hocket::inline HOCKET_ABI {

// What a wait gives that nothing but a stop or a deadline can end early (yield(), a sleep): a result<void> that may be
// ignored, since the coroutine's next wait finds the same.
class waited : public result<void> {
 public:
  using result<void>::result;
  constexpr waited(result<void> given) noexcept : result<void>(std::move(given)) {}
};

}  // namespace hocket::inline HOCKET_ABI
