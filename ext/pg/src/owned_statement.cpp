#include "owned_statement.hpp"

#include <hocket/pg/error.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

owned_statement::owned_statement(const pg::statement& command)
    : text_(command.text), is_prepared_(command.is_prepared) {
  parameters_.reserve(command.parameters.size());
  for (std::size_t i = 0; i < command.parameters.size(); ++i) {
    const pg::parameter value = command.parameters[i];
    if (value.is_null()) parameters_.emplace_back();
    else parameters_.emplace_back(value.text());
  }
}

std::error_code owned_statement::refusal() const noexcept {
  constexpr std::size_t max_parameters = 65'535;
  if (has_zero_byte(text_)) return make_error_code(pg::errc::zero_byte);
  for (const auto& value : parameters_)
    if (value && has_zero_byte(*value)) return make_error_code(pg::errc::zero_byte);
  if (parameters_.size() > max_parameters) return make_error_code(pg::errc::too_many_parameters);
  return {};
}

bool owned_statement::send(PGconn* handle) const {
  std::vector<const char*> values;
  values.reserve(parameters_.size());
  for (const auto& value : parameters_) values.push_back(value ? value->c_str() : nullptr);
  const int count = static_cast<int>(values.size());
  if (is_prepared_) return PQsendQueryPrepared(handle, text_.c_str(), count, values.data(), nullptr, nullptr, 0) != 0;
  if (values.empty() && PQpipelineStatus(handle) == PQ_PIPELINE_OFF) return PQsendQuery(handle, text_.c_str()) != 0;
  return PQsendQueryParams(handle, text_.c_str(), count, nullptr, values.data(), nullptr, nullptr, 0) != 0;
}

}}}  // namespace hocket::detail
