// What the dynamic linker knows of an address in code.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct code_site {
  const char* module;  // the file that it is in; null: in none
  const char* symbol;  // the exported function that it is in, mangled; null: in none
  std::size_t offset;  // from the symbol, else from the beginning of the module
};

code_site place_of(const void* address) noexcept;

}}}  // namespace hocket::detail
