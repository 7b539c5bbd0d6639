#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

result<stream> stream::adopt(int number) noexcept {
  result<descriptor> of = descriptor::adopt(number);
  if (!of) return failure(of.error());
  return stream(std::move(*of));
}

}}  // namespace hocket
