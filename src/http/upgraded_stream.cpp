#include <hocket/http/upgraded_stream.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

task<result<std::size_t>> upgraded_stream::read_some(mutable_buffer buffer) {
  const std::string_view rest = unread();
  if (rest.empty()) co_return co_await stream_.read_some(buffer);
  const std::size_t count = std::min(rest.size(), buffer.size());
  std::memcpy(buffer.data(), rest.data(), count);
  taken_ += count;
  if (taken_ == first_.size()) {
    first_ = std::string();
    taken_ = 0;
  }
  co_return count;
}

}}}  // namespace hocket::http
