#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

result<stream> stream::adopt(int fd) noexcept {
  result<descriptor> owner = descriptor::adopt(fd);
  if (!owner) return failure(owner.error());
  return stream(std::move(*owner));
}

}}  // namespace hocket
