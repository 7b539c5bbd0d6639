#include "conninfo.hpp"

#include <hocket/pg/error.hpp>

#include "owned_statement.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

using handle_owner = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using option_list = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

const char* value_of(const option_list& options, const char* keyword) noexcept {
  for (const PQconninfoOption* each = options.get(); each && each->keyword; ++each)
    if (std::strcmp(each->keyword, keyword) == 0 && each->val) return each->val;
  return "";
}

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts(1);
  for (const char* c = list; *c != '\0'; ++c) {
    if (*c == ',') parts.emplace_back();
    else parts.back() += *c;
  }
  return parts;
}

// libpq has checked that the lists are equally long. One port may stand for all hosts.
std::vector<pg_host> hosts_of(const option_list& options) {
  const auto names = split(value_of(options, "host")), addresses = split(value_of(options, "hostaddr")),
             ports = split(value_of(options, "port"));
  std::vector<pg_host> hosts(std::max(names.size(), addresses.size()));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (i < names.size()) hosts[i].name = names[i];
    if (i < addresses.size()) hosts[i].address = addresses[i];
    hosts[i].port = ports.size() == 1 ? ports[0] : ports[std::min(i, ports.size() - 1)];
  }
  return hosts;
}

// False: no number.
bool read_seconds(const char* text, std::chrono::seconds& seconds) noexcept {
  int value = 0;
  const char* const end = text + std::strlen(text);
  if (text != end) {
    const auto [rest, error] = std::from_chars(text, end, value);
    if (error != std::errc() || rest != end) return false;
  }
  seconds = std::chrono::seconds(value > 0 ? value : 0);
  return true;
}

// Null if the string is malformed.
option_list parse(const std::string& text, std::string& message) {
  char* error = nullptr;
  option_list options(PQconninfoParse(text.c_str(), &error), &PQconninfoFree);
  if (!options) message += error ? error : "out of memory";
  PQfreemem(error);
  return options;
}

// A handle that has read all options, and has not connected.
handle_owner probe(const std::string& text) {
  const char* const keywords[] = {"dbname", "channel_binding", nullptr};
  const char* const values[] = {text.c_str(), "none such", nullptr};
  return {PQconnectStartParams(keywords, values, 1), &PQfinish};
}

}  // namespace

result<conninfo> read_conninfo(std::string text, std::string& message) {
  if (has_zero_byte(text)) return failure(make_error_code(pg::errc::zero_byte));
  if (!parse(text, message)) return failure(make_error_code(pg::errc::invalid_conninfo));
  const handle_owner handle = probe(text);
  const option_list options(handle ? PQconninfo(handle.get()) : nullptr, &PQconninfoFree);
  if (!options) return failure(std::make_error_code(std::errc::not_enough_memory));
  const std::string_view refusal = PQerrorMessage(handle.get());
  conninfo all{std::move(text), {}, {}, value_of(options, "target_session_attrs")};
  if (refusal.find("channel_binding") == std::string_view::npos) {
    message += refusal;
    return failure(make_error_code(pg::errc::invalid_conninfo));
  }
  if (!read_seconds(value_of(options, "connect_timeout"), all.connect_timeout)) {
    message += "connect_timeout is no number of seconds";
    return failure(make_error_code(pg::errc::invalid_conninfo));
  }
  all.hosts = hosts_of(options);
  return all;
}

PGconn* start_connect(const conninfo& all, const pg_host& host, const std::string& session_attributes) noexcept {
  const char* const keywords[] = {"dbname", "host", "hostaddr", "port", "target_session_attrs", nullptr};
  const char* const values[] = {all.text.c_str(),  host.name.c_str(),          host.address.c_str(),
                                host.port.c_str(), session_attributes.c_str(), nullptr};
  return PQconnectStartParams(keywords, values, 1);
}

}}}  // namespace hocket::detail
