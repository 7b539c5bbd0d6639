// A statement with its texts, as libpq takes them: zero-terminated.
#pragma once
#include <hocket/pg/statement.hpp>
#include <optional>
#include <postgresql/libpq-fe.h>
#include <string>
#include <system_error>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class owned_statement {
 public:
  explicit owned_statement(const pg::statement& command);

  // Why the statement must not be sent: libpq would cut a text off at a zero byte. No error: it may.
  std::error_code refusal() const noexcept;
  // False: libpq has refused.
  bool send(PGconn* handle) const;

 private:
  std::string text_;
  std::vector<std::optional<std::string>> parameters_;
  bool is_prepared_;
};

// Whether libpq would cut the text off.
inline bool has_zero_byte(std::string_view text) noexcept { return text.find('\0') != std::string_view::npos; }

}}}  // namespace hocket::detail
