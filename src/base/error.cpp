#include <hocket/base/error.hpp>

namespace hocket::inline HOCKET_ABI {

void throw_error(std::error_code error) {
  if (error == std::errc::operation_canceled) throw cancelled{};
  throw std::system_error(error);
}

}  // namespace hocket::inline HOCKET_ABI
