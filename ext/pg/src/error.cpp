#include <hocket/pg/error.hpp>

#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {
namespace {

class sqlstate_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "PostgreSQL"; }
  std::string message(int value) const override {
    std::string state(5, '0');
    for (auto digit = state.rbegin(); digit != state.rend(); ++digit, value /= 36)
      *digit = static_cast<char>(value % 36 < 10 ? '0' + value % 36 : 'A' + value % 36 - 10);
    return "SQLSTATE " + state;
  }
};

const char* text_of(errc error) noexcept {
  switch (error) {
    case errc::zero_byte: return "a text for PostgreSQL contains a zero byte";
    case errc::too_many_parameters: return "a statement has more than 65,535 parameters";
    case errc::answers_outstanding: return "an operation of the connection has ended without its answers: drain() it";
    case errc::copying: return "a COPY of the connection has not ended: end it by native(), or drain()";
    case errc::in_transaction: return "the connection is in a transaction already";
    case errc::no_transaction: return "the transaction has ended already";
    case errc::forked: return "the connection belongs to the parent process";
    case errc::copy_in_pipeline: return "COPY is not possible in a pipeline; the connection is broken";
    case errc::protocol_violation: return "the server has sent an answer that no statement asked for";
    case errc::cancel_refused: return "all threads for cancel requests are busy";
    case errc::rolled_back: return "the server has rolled the transaction back, because a statement had failed";
    case errc::invalid_conninfo: return "the connection string is malformed";
    case errc::unknown_host: return "the name of the host could not be looked up";
    case errc::connect_timed_out: return "connect_timeout has passed";
    case errc::password_required: return "the server asks for a password, and there is none";
    case errc::tls_failed: return "the TLS handshake has failed";
    case errc::wrong_session: return "no host has the session that target_session_attrs demands";
    case errc::connect_failed: return "the connection could not be made";
  }
  return "unknown error of hocket::pg";
}

class client_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "hocket::pg"; }
  std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
};

}  // namespace

const std::error_category& category() noexcept {
  static const sqlstate_category states;
  return states;
}

const std::error_category& error_category() noexcept {
  static const client_category errors;
  return errors;
}

}}}  // namespace hocket::pg
