#include <hocket/base/fatal.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/percent.hpp>
#include <hocket/http/request.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

using detail::field_table;
using detail::known_field;

std::string_view request::path() const {
  if (path_.empty()) path_ = decode_path(raw_path());
  return path_;
}

// The head has only well-formed percent signs in its path.
std::string_view request::decode_path(std::string_view raw) const {
  if (raw.find('%') == std::string_view::npos) return raw;
  char* const text = arena_.allocate_text(raw.size());
  const std::optional<std::size_t> size = detail::percent_decode_to(raw, text);
  return size ? std::string_view(text, *size) : raw;
}

std::string_view request::host() const noexcept {
  if (const std::string_view forwarded = origin_.forwarded_host(); !forwarded.empty()) return forwarded;
  return head_ ? head_->host() : std::string_view{};
}

std::optional<std::string_view> request::header(std::string_view name) const {
  if (!head_) return std::nullopt;
  const field_table& fields = head_->fields();
  const std::size_t first = fields.find(name);
  if (first == field_table::npos) return std::nullopt;
  if (fields.known(first) == known_field::host) return head_->host();
  if (fields.find_next(first) == field_table::npos) return fields.value(first);
  return join_lines(first, fields.known(first) == known_field::cookie ? "; " : ", ");
}

std::string_view request::join_lines(std::size_t first, std::string_view separator) const {
  const field_table& fields = head_->fields();
  std::size_t size = 0;
  for (std::size_t i = first; i != field_table::npos; i = fields.find_next(i))
    size += fields.value(i).size() + separator.size();
  char* const begin = arena_.allocate_text(size);
  char* end = begin;
  const auto put = [&end](std::string_view text) {
    std::memcpy(end, text.data(), text.size());
    end += text.size();
  };
  for (std::size_t i = first; i != field_table::npos; i = fields.find_next(i)) {
    if (i != first) put(separator);
    put(fields.value(i));
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

result<std::optional<std::string_view>> request::path_text(std::string_view name) const {
  const auto found = std::find(parameters_.begin(), parameters_.end(), name);
  if (found == parameters_.end()) return failure(errc::internal_server_error);
  return std::optional(decode_path(match_.values[static_cast<std::size_t>(found - parameters_.begin())]));
}

result<std::optional<std::string_view>> request::query_text(std::string_view name) const {
  if (!query_.is_decoded()) query_.decode(raw_query(), arena_);
  if (!query_.is_valid()) return failure(errc::bad_request);
  return query_.find(name);
}

result<std::optional<std::string_view>> request::form_text(std::string_view name) const {
  if (stream_) return failure(std::errc::operation_not_supported);
  const std::string_view type = head_ ? head_->find(known_field::content_type).value_or("") : std::string_view{};
  if (!detail::equals_ignore_case(detail::split_parameters(type).name, "application/x-www-form-urlencoded"))
    return failure(errc::unsupported_media_type);
  if (!form_.is_decoded()) form_.decode(body_, arena_);
  if (!form_.is_valid()) return failure(errc::bad_request);
  return form_.find(name);
}

std::optional<std::string_view> request::cookie(std::string_view name) const noexcept {
  if (!head_) return std::nullopt;
  const field_table& fields = head_->fields();
  for (std::size_t i = fields.find(known_field::cookie); i != field_table::npos; i = fields.find_next(i)) {
    if (const auto value = detail::find_cookie(fields.value(i), name)) return value;
  }
  return std::nullopt;
}

request_body& request::stream() const {
  hocket::detail::expects(stream_ != nullptr, "request::stream() was called for a body that is read whole",
                          "add the route with {.body = http::streamed}, or use request::body()");
  return *stream_;
}

void request::set_object(const void* tag, void* object) {
  objects_ = ::new (arena_.allocate(sizeof(object_slot))) object_slot{objects_, tag, object};
}

void* request::find_object(const void* tag) const noexcept {
  for (const object_slot* slot = objects_; slot; slot = slot->next) {
    if (slot->tag == tag) return slot->object;
  }
  return nullptr;
}

}}}  // namespace hocket::http
