// Whether a type has a trivial destructor, as options must (docs/decisions/040-options-are-views.md). The compiler is
// asked by its own word: thirty std::is_trivially_destructible_v would make the umbrella 2 % heavier.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#if HOCKET_PORTABLE || !(defined(__GNUC__) || defined(__clang__))
#include <type_traits>
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
inline constexpr bool owns_nothing =
#if defined(__clang__) && !HOCKET_PORTABLE
    __is_trivially_destructible(T);
#elif defined(__GNUC__) && !HOCKET_PORTABLE
    __has_trivial_destructor(T);
#else
    std::is_trivially_destructible_v<T>;
#endif

}}}  // namespace hocket::detail
