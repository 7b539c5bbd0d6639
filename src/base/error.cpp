#include <hocket/base/error.hpp>

#include <string>

namespace hocket { inline namespace HOCKET_ABI {

namespace {

class own_category final : public std::error_category {
 public:
  constexpr own_category() noexcept = default;
  const char* name() const noexcept override { return "hocket"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::closed: return "the channel or pool is closed";
      case errc::killed: return "the coroutine was killed";
      case errc::end_of_stream: return "the stream has ended in the middle";
      case errc::partial_write: return "an earlier write to the stream was partial";
      case errc::cancelled: return "cancelled";
      case errc::deadline_exceeded: return "deadline exceeded";
      case errc::full: return "the queue is full";
      case errc::peer_lost: return "the peer does not answer";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::closed: return std::errc::broken_pipe;
      case errc::killed: return std::errc::operation_canceled;
      case errc::end_of_stream: return std::errc::no_message_available;
      case errc::partial_write: return std::errc::io_error;
      case errc::cancelled: return std::errc::operation_canceled;
      case errc::deadline_exceeded: return std::errc::timed_out;
      case errc::full: return std::errc::resource_unavailable_try_again;
      case errc::peer_lost: return std::errc::connection_aborted;
    }
    return {value, *this};
  }
};

constinit const own_category the_category;

}  // namespace

const std::error_category& error_category() noexcept { return the_category; }

namespace detail {
void throw_error(std::error_code error) {
  if (error == std::errc::operation_canceled) throw cancelled{};
  throw std::system_error(error);
}
}  // namespace detail

}}  // namespace hocket
