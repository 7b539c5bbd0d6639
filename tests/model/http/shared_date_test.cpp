// The text of the Date that the connections of a server share, under every schedule: no answer has the words of two
// dates.
#include "http/shared_date.hpp"
#include "verdict.hpp"

#include <algorithm>

namespace {

using hocket::http::detail::format_date;
using hocket::http::detail::shared_date;
using hocket::model::execution;
using hocket::model::require;
namespace model = hocket::model;

// "Thu, 31 Dec 1970 23:59:59 GMT" and "Fri, 01 Jan 1971 00:00:00 GMT": most words differ.
constexpr std::int64_t first = 365 * 86'400 - 1, second = first + 1;

void expect_text(shared_date& date, std::int64_t now) {
  require(date.at(now) == format_date(now), "the text has the words of two dates");
}

// The text changes while another thread reads it.
void read_beside_write(execution& run) {
  shared_date date;
  expect_text(date, first);
  run.thread("reads", [&] { expect_text(date, first); });
  run.thread("writes", [&] { expect_text(date, second); });
  run.join();
  expect_text(date, second);
}

// Two threads are the first to need a text.
void two_writers(execution& run) {
  shared_date date;
  run.thread("first", [&] { expect_text(date, first); });
  run.thread("second", [&] {
    expect_text(date, second);
    expect_text(date, second);
  });
  run.join();
  expect_text(date, second);
}

// Two threads need the text of a new second.
void same_second(execution& run) {
  shared_date date;
  expect_text(date, first);
  run.thread("one worker", [&] { expect_text(date, second); });
  run.thread("another worker", [&] { expect_text(date, second); });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 2, .spurious = 0};

}  // namespace

TEST_CASE("a date is read whole while another thread writes the next one") {
  ::verdict::none(bounds, read_beside_write);
  ::verdict::none(bounds, two_writers);
  ::verdict::none(bounds, same_second);
}

// The checker adds each store at the end of the order of its object. So it does not see that the exchange in write()
// must acquire: without that, the words of the write before could be last in their order.
TEST_CASE("every ordering of the shared date is needed, but for one that the checker does not see") {
  constexpr model::options few{.preemptions = 2, .stale_reads = 2, .spurious = 0, .weakened = "shared_date.hpp"};
  const std::string unneeded = model::unneeded_orderings(few, read_beside_write, two_writers, same_second);
  CAPTURE(unneeded);
  CHECK(std::count(unneeded.begin(), unneeded.end(), '\n') == 1);
  CHECK(unneeded.find(": acquire could be relaxed") != std::string::npos);
}
