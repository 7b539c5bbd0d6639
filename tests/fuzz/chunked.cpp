// Chunked bodies: the result does not depend on how the bytes arrive, and an accepted body is read again from its data.
#include "fuzz.hpp"

#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/field_table.hpp>
#include <string>

namespace {

using namespace hocket::http::detail;
using hocket_fuzz::expect;
using state = chunked_decoder::state;

struct decoded {
  state end = state::more;
  std::string data;
  std::string trailers;
  std::size_t size = 0;
  bool operator==(const decoded&) const = default;
};

decoded decode(std::string_view bytes, std::size_t piece) {
  constexpr chunked_limits limits{.extensions = 64, .line = 40, .trailers = 100, .fields = 4};
  chunked_decoder decoder(limits);
  decoded sum;
  for (std::size_t begin = 0; begin < bytes.size() && sum.end == state::more; begin += piece) {
    std::string_view input = bytes.substr(begin, piece);
    do {
      const chunked_decoder::step step = decoder.decode(input);
      expect(step.consumed <= input.size(), "no more is consumed than there is");
      expect(step.data.size() <= step.consumed, "data are consumed");
      expect(step.consumed != 0 || step.state != state::data, "each step with data consumes them");
      input.remove_prefix(step.consumed);
      sum.size += step.consumed;
      if (step.state == state::data) sum.data += step.data;
      if (step.state == state::trailer) sum.trailers += step.data;
      if (step.state == state::more) expect(input.empty(), "all of the input is consumed before more is wanted");
      sum.end = step.state == state::data || step.state == state::trailer ? state::data : step.state;
    } while (sum.end == state::data);
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = hocket_fuzz::text_of(data, size);
  const decoded whole = decode(bytes, size + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, size / 2 + 1}) {
    const decoded split = decode(bytes, piece);
    expect(split.end == whole.end && split.data == whole.data, "the result does not depend on the pieces");
    if (whole.end == state::done) expect(split == whole, "nor do size and trailers");
  }
  if (whole.end != state::done) return 0;
  field_table fields;
  expect(read_trailers(whole.trailers, fields), "accepted trailers are fields");
  expect(bytes.substr(0, whole.size).ends_with("\r\n"), "a body ends with a line end");
  return 0;
}
