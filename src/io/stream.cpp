#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

result<stream> stream::adopt(int fd) noexcept {
  result<descriptor> of = descriptor::adopt(fd);
  if (!of) return failure(of.error());
  return stream(std::move(*of));
}

}}  // namespace hocket
