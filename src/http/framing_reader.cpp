#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/http/detail/framing.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <limits>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr refusal bad_framing(const char* section) noexcept { return {status::bad_request, section}; }

constexpr std::uint64_t framing_fields =
    field_table::bit_of(known_field::content_length) | field_table::bit_of(known_field::transfer_encoding) |
    field_table::bit_of(known_field::expect) | field_table::bit_of(known_field::connection) |
    field_table::bit_of(known_field::te);

// Calls `read` with the value of each line of a field, until it returns a refusal.
template <class Read>
refusal for_each_line(const field_table& fields, known_field field, Read read) noexcept {
  for (std::size_t i = fields.find(field); i != field_table::npos; i = fields.find_next(i))
    if (const refusal error = read(fields.value(i)); error.is_set()) return error;
  return {};
}

refusal read_host(const request_head& head) noexcept {
  const field_table& fields = head.fields();
  const std::size_t index = fields.find(known_field::host);
  if (index == field_table::npos) return head.minor_version() == 0 ? refusal{} : bad_framing("RFC 9112, 3.2");
  if (fields.is_repeated(known_field::host) || !is_host(fields.value(index))) return bad_framing("RFC 9112, 3.2");
  return {};
}

refusal read_length(const field_table& fields, framing& body) noexcept {
  const std::size_t index = fields.find(known_field::content_length);
  if (index == field_table::npos) return {};
  const std::string_view digits = fields.value(index);
  if (fields.is_repeated(known_field::content_length) || digits.empty() || digits.size() > 19)
    return bad_framing("RFC 9112, 6.3");
  std::uint64_t length = 0;
  for (const char digit : digits) {
    if (!is_in(digit_char, digit)) return bad_framing("RFC 9112, 6.3");
    length = length * 10 + static_cast<unsigned>(digit - '0');
  }
  if (length > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return bad_framing("RFC 9112, 6.3");
  body.length = length;
  if (length != 0) body.kind = framing::body_kind::length;
  return {};
}

// The state of the list of transfer codings.
struct codings {
  std::size_t chunked = 0;
  bool is_chunked_last = false;
  bool has_others = false;
};

refusal read_coding(std::string_view element, codings& found) noexcept {
  const auto [name, parameters] = split_parameters(element);
  if (!is_token(name)) return bad_framing("RFC 9112, 6.1");
  found.is_chunked_last = equals_ignore_case(name, "chunked");
  if (!found.is_chunked_last) {
    found.has_others = true;
    return {};
  }
  if (element.size() != name.size() || ++found.chunked > 1) return bad_framing("RFC 9112, 7.1");
  return {};
}

refusal read_transfer_encoding(const request_head& head, framing& body) noexcept {
  if (!head.fields().has(known_field::transfer_encoding)) return {};
  if (head.fields().has(known_field::content_length)) return bad_framing("RFC 9112, 6.3");
  if (head.minor_version() == 0) return bad_framing("RFC 9112, 6.1");
  codings found;
  const refusal error =
      for_each_line(head.fields(), known_field::transfer_encoding, [&found](std::string_view value) noexcept {
        list_reader elements(value);
        for (std::string_view element; elements.next(element);)
          if (const refusal bad = read_coding(element, found); bad.is_set()) return bad;
        return elements.is_malformed() || elements.has_empty_elements() ? bad_framing("RFC 9112, 6.1") : refusal{};
      });
  if (error.is_set()) return error;
  if (!found.is_chunked_last) return bad_framing("RFC 9112, 6.3");
  if (found.has_others) return {status::not_implemented, "RFC 9112, 6.1"};
  body.kind = framing::body_kind::chunked;
  return {};
}

refusal read_expect(const request_head& head, framing& body) noexcept {
  return for_each_line(head.fields(), known_field::expect, [&](std::string_view value) noexcept {
    list_reader elements(value);
    for (std::string_view element; elements.next(element);) {
      if (!equals_ignore_case(element, "100-continue")) return refusal{status::expectation_failed, "RFC 9110, 10.1.1"};
      body.expects_continue = body.has_body() && head.minor_version() != 0;
    }
    return elements.is_malformed() ? refusal{status::expectation_failed, "RFC 9110, 10.1.1"} : refusal{};
  });
}

// The options of Connection.
struct connection_options {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;

  // Whether the option is one of these.
  bool add(std::string_view option) noexcept {
    if (equals_ignore_case(option, "keep-alive")) return keep_alive = true;
    if (equals_ignore_case(option, "close")) return close = true;
    if (equals_ignore_case(option, "upgrade")) return upgrade = true;
    return false;
  }
};

refusal read_connection(const request_head& head, framing& body) noexcept {
  connection_options options;
  const refusal error = for_each_line(head.fields(), known_field::connection, [&](std::string_view value) noexcept {
    if (options.add(value)) return refusal{};  // no list, as most often
    list_reader elements(value);
    for (std::string_view element; elements.next(element);)
      if (!options.add(element) && !is_token(element)) return bad_framing("RFC 9110, 7.6.1");
    return elements.is_malformed() ? bad_framing("RFC 9110, 7.6.1") : refusal{};
  });
  body.keeps_alive = (head.minor_version() != 0 || options.keep_alive) && !options.close;
  body.upgrades = options.upgrade && head.minor_version() != 0 && head.fields().has(known_field::upgrade);
  return error;
}

refusal read_te(const field_table& fields, framing& body) noexcept {
  return for_each_line(fields, known_field::te, [&](std::string_view value) noexcept {
    body.accepts_trailers |= has_token(value, "trailers");
    return refusal{};
  });
}

// The fields of framing_fields.
[[HOCKET_NOINLINE]] refusal read_framing_fields(const request_head& head, framing& body) noexcept {
  if (const refusal error = read_transfer_encoding(head, body); error.is_set()) return error;
  if (const refusal error = read_length(head.fields(), body); error.is_set()) return error;
  if (body.has_body() && (head.method() == method::trace || head.method() == method::connect))
    return bad_framing(head.method() == method::trace ? "RFC 9110, 9.3.8" : "RFC 9110, 9.3.6");
  if (const refusal error = read_connection(head, body); error.is_set()) return error;
  if (const refusal error = read_expect(head, body); error.is_set()) return error;
  return read_te(head.fields(), body);
}

}  // namespace

refusal read_framing(const request_head& head, framing& body) noexcept {
  body = {};
  body.keeps_alive = head.minor_version() != 0;
  if (const refusal error = read_host(head); error.is_set()) return error;
  return head.fields().has_any_of(framing_fields) ? read_framing_fields(head, body) : refusal{};
}

}}}}  // namespace hocket::http::detail
