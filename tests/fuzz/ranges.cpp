// The field Range: accepted ranges are inside of the file, have no byte in common, and are read again from their text.
#include "fuzz.hpp"

#include <hocket/http/detail/ranges.hpp>
#include <string>

namespace {

using namespace hocket::http::detail;
using hocket_fuzz::expect;
using outcome = range_set::outcome;

void check(std::string_view field, std::uint64_t file_size) {
  const range_set ranges = range_set::parse(field, file_size);
  expect((ranges.result() == outcome::satisfiable) == (ranges.size() != 0), "a satisfiable field has ranges");
  expect(ranges.size() <= range_set::max_ranges, "the number of ranges is limited");
  std::uint64_t sum = 0;
  std::string text = "bytes=";
  for (const byte_range& range : ranges) {
    expect(range.begin < range.end && range.end <= file_size, "a range is inside of the file");
    sum += range.size();
    text += std::to_string(range.begin) + "-" + std::to_string(range.end - 1) + ",";
  }
  expect(sum <= file_size, "all ranges together are no more than the file");
  if (ranges.size() == 0) return;
  const range_set again = range_set::parse(text, file_size);
  expect(again.size() == ranges.size(), "the text of accepted ranges is accepted");
  for (std::size_t i = 0; i < again.size(); ++i) expect(again[i] == ranges[i], "and has the same ranges");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view field = hocket_fuzz::text_of(data, size);
  for (const std::uint64_t file_size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, UINT64_MAX})
    check(field, file_size);
  return 0;
}
