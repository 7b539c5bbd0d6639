// std::unique_ptr, without the rest of <memory>: where the standard library has it in a header of its own.
#pragma once
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/unique_ptr.h>)
#include <bits/unique_ptr.h>
#else
#include <memory>
#endif
