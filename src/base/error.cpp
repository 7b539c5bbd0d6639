#include <hocket/base/error.hpp>

#include <string>

namespace hocket::inline HOCKET_ABI {

namespace {

class own_category final : public std::error_category {
 public:
  constexpr own_category() noexcept = default;
  const char* name() const noexcept override { return "hocket"; }
  std::string message(int value) const override {
    return value == static_cast<int>(errc::closed) ? "the channel is closed" : "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    if (value == static_cast<int>(errc::closed)) return std::errc::broken_pipe;
    return {value, *this};
  }
};

constinit const own_category the_category;

}  // namespace

const std::error_category& error_category() noexcept { return the_category; }

void throw_error(std::error_code error) {
  if (error == std::errc::operation_canceled) throw cancelled{};
  throw std::system_error(error);
}

}  // namespace hocket::inline HOCKET_ABI
