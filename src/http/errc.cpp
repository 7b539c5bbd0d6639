#include <hocket/http/errc.hpp>
#include <hocket/http/status.hpp>

#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace {

class status_category final : public std::error_category {
 public:
  constexpr status_category() noexcept = default;
  const char* name() const noexcept override { return "hocket.http"; }
  std::string message(int value) const override {
    const std::string_view reason =
        value < 400 || value > 599 ? std::string_view{} : reason_of(static_cast<status>(value));
    return std::string(reason.empty() ? "unknown status" : reason);
  }
};

constinit const status_category the_status_category;

}  // namespace

const std::error_category& error_category() noexcept { return the_status_category; }

}}}  // namespace hocket::http
