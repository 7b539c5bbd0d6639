#include <hocket/sync/broadcast.hpp>

#include <limits>
#include <string>

namespace hocket { inline namespace HOCKET_ABI {

namespace {

// The value of an error is the number of lost items.
class lag_category final : public std::error_category {
 public:
  constexpr lag_category() noexcept = default;
  const char* name() const noexcept override { return "hocket.lag"; }
  std::string message(int value) const override {
    return "items of a broadcast were lost to a receiver that was late: " + std::to_string(value);
  }
  std::error_condition default_error_condition(int) const noexcept override { return std::errc::no_buffer_space; }
};

constinit const lag_category the_lag_category;

}  // namespace

namespace detail {
std::error_code lag_error(std::uint64_t lost) noexcept {
  constexpr auto max = std::numeric_limits<int>::max();
  return {lost < static_cast<std::uint64_t>(max) ? static_cast<int>(lost) : max, the_lag_category};
}
}  // namespace detail

std::size_t lagged_by(std::error_code error) noexcept {
  return error.category() == the_lag_category ? static_cast<std::size_t>(error.value()) : 0;
}

}}  // namespace hocket
