// In a shared library, beside the cases of fault 29.
#include "regress/library/library.hpp"

hocket::detail::thread_state* hocket_test::found_by_library() noexcept { return &hocket::detail::this_thread(); }
