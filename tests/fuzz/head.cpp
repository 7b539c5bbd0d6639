// Heads and the bodies behind them: the verdict does not depend on how the bytes arrive, views lie in the bytes, and no
// head has two framings.
#include "fuzz.hpp"

#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <string>

namespace {

using namespace hocket::http::detail;
using hocket_fuzz::expect;
using outcome = request_head::outcome;

constexpr head_limits limits{.line = 200, .head = 400, .fields = 8};

outcome parse_split(request_head& head, std::string_view bytes, std::size_t step) {
  outcome result = outcome::incomplete;
  for (std::size_t end = 0; end < bytes.size() && result == outcome::incomplete;) {
    end = bytes.size() - end > step ? end + step : bytes.size();
    result = head.parse(bytes.substr(0, end), limits);
  }
  return result;
}

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_views(const request_head& head, std::string_view bytes) {
  const std::string_view used = bytes.substr(0, head.size());
  expect(used.ends_with("\r\n\r\n"), "a head ends with an empty line");
  expect(is_within(head.target(), used) && is_within(head.host(), used) && is_within(head.query(), used),
         "views lie in the head");
  for (std::size_t i = 0; i != head.fields().size(); ++i) {
    expect(is_within(head.fields().name(i), used) && is_within(head.fields().value(i), used), "fields lie in the head");
    expect(is_token(head.fields().name(i)) && is_field_value(head.fields().value(i)), "fields follow the grammar");
    expect(head.fields().find(head.fields().name(i)) <= i, "each field is found");
  }
  std::size_t breaks = 0;
  for (std::size_t i = 0; i + 1 < used.size(); ++i) {
    if (used[i] == '\r') expect(used[i + 1] == '\n', "no bare CR is accepted");
    if (used[i + 1] == '\n') expect(used[i] == '\r', "no bare LF is accepted"), ++breaks;
  }
  expect(breaks == head.fields().size() + 2 + (used.starts_with("\r\n") ? 1 : 0), "each line is a field");
}

void check_framing(const request_head& head, std::string_view bytes) {
  const framing& body = head.body();
  const bool has_coding = head.fields().has(known_field::transfer_encoding);
  expect(!has_coding || !head.fields().has(known_field::content_length), "a head has one framing");
  expect(has_coding == (body.kind == framing::body_kind::chunked), "a transfer coding is chunked");
  expect((body.kind == framing::body_kind::length) == (body.length != 0), "a length delimits a body");
  if (!has_coding) return;
  chunked_decoder decoder;
  for (std::string_view rest = bytes.substr(head.size());;) {
    const chunked_decoder::step step = decoder.decode(rest);
    expect(step.consumed <= rest.size() && is_within(step.data, rest), "data lie in the input");
    rest.remove_prefix(step.consumed);
    if (step.state != chunked_decoder::state::data && step.state != chunked_decoder::state::trailer) return;
  }
}

// Both heads are complete. They were read by different readers.
void check_same(const request_head& a, const request_head& b) {
  expect(a.size() == b.size() && a.method() == b.method() && a.minor_version() == b.minor_version(),
         "nor does the method");
  expect(a.target() == b.target() && a.path() == b.path() && a.query() == b.query() && a.host() == b.host(),
         "nor does the target");
  expect(a.body().kind == b.body().kind && a.body().length == b.body().length, "nor does the framing");
  expect(a.fields().size() == b.fields().size(), "nor does the number of fields");
  for (std::size_t i = 0; i != a.fields().size(); ++i)
    expect(a.fields().name(i) == b.fields().name(i) && a.fields().value(i) == b.fields().value(i) &&
               a.fields().known(i) == b.fields().known(i),
           "nor does a field");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = hocket_fuzz::text_of(data, size);
  if (bytes.empty()) return 0;
  request_head whole;
  const outcome result = whole.parse(bytes, limits);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, size / 2 + 1}) {
    request_head split;
    expect(parse_split(split, bytes, step) == result, "the outcome does not depend on the pieces");
    if (result == outcome::refused) expect(split.error().code == whole.error().code, "nor does the status");
    if (result == outcome::complete) check_same(split, whole);
  }
  if (result == outcome::refused)
    expect(whole.error().code >= hocket::http::status::bad_request, "a refusal has a status");
  if (result != outcome::complete) return 0;
  check_views(whole, bytes);
  check_framing(whole, bytes);
  return 0;
}
