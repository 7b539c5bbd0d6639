// The Date that connections share.
#include "http/shared_date.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace hocket::http::detail;

static std::string text_of(const date_text& text) { return std::string(text.data(), text.size()); }

TEST_CASE("the shared date is that of the second, also if the clock is set back or stands still") {
  shared_date date;
  for (const std::int64_t second : {0, 0, 784111777, 784111777, 784111778, 784111777, 784111778, 5, 784111779}) {
    CAPTURE(second);
    CHECK(text_of(date.at(second)) == text_of(format_date(second)));
  }
}

TEST_CASE("threads that read and write the shared date get the date of their second") {
  shared_date date;
  std::atomic<std::int64_t> now{784111777};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        const std::int64_t second = n % 7 == 0 ? ++now : now.load();
        if (text_of(date.at(second)) != text_of(format_date(second))) ++wrong;
      }
    });
  for (std::thread& each : readers) each.join();
  CHECK(wrong == 0);
}
