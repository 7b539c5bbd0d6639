// The text of metrics for Prometheus.
#include <hocket/base/metrics.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/http/metrics.hpp>
#include <hocket/http/server.hpp>
#include <hocket/runtime/blocking_pool.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace hocket;

namespace {

constexpr metric level{"test_level", "A level of the \\ test,\nin units.", metric_kind::gauge};
constexpr metric events{"test_events_total", "Events.", metric_kind::counter};

struct tank {
  void report_metrics(metric_visitor& to) const {
    to.add(level, {{"name", name}, {"side", "a\"b\\c\nd"}}, value);
    to.add_count(events, {}, 3);
  }
  std::string name;
  double value;
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("values of a metric stand together under its help and type, with escaped texts") {
  const tank first{"x", 0.25};
  const tank second{"y", -1};
  const metric_source of_first(first), of_second(second);
  const std::string text = http::metrics_text();
  CHECK(contains(text,
                 "# HELP test_level A level of the \\\\ test,\\nin units.\n# TYPE test_level gauge\n"
                 "test_level{name=\"x\",side=\"a\\\"b\\\\c\\nd\"} 0.25\n"
                 "test_level{name=\"y\",side=\"a\\\"b\\\\c\\nd\"} -1\n"));
  CHECK(contains(text,
                 "# HELP test_events_total Events.\n# TYPE test_events_total counter\n"
                 "test_events_total 6\n"));
}

TEST_CASE("values with the same name and the same labels are one line") {
  constexpr static metric greatest{"test_greatest", "A maximum.", metric_kind::maximum};
  struct source {
    void report_metrics(metric_visitor& to) const {
      to.add(level, {{"a", "x"}, {"b", "y"}}, value);
      to.add(level, {{"b", "y"}, {"a", "x"}}, value);
      to.add(level, {{"a", "y"}, {"b", "x"}}, value);
      to.add(greatest, {{"a", "x"}}, value);
    }
    double value;
  };
  const source first{2}, second{5}, third{3};
  const metric_source of_first(first), of_second(second), of_third(third);
  const std::string text = http::metrics_text();
  CHECK(contains(text, " gauge\ntest_level{a=\"x\",b=\"y\"} 20\ntest_level{a=\"y\",b=\"x\"} 10\n# "));
  CHECK(text.ends_with("# TYPE test_greatest gauge\ntest_greatest{a=\"x\"} 5\n"));
}

TEST_CASE("no line of the page repeats the name and the labels of another one") {
  const runtime first({.workers = 1, .name = "same"});
  const runtime second({.workers = 2, .name = "same"});
  loop lp;
  http::router none, also_none;
  http::server a = http::serve(lp, "127.0.0.1:0", {}, std::move(none)).value();
  http::server b = http::serve(lp, "127.0.0.1:0", {}, std::move(also_none)).value();
  const std::string text = http::metrics_text();
  CHECK(contains(text, "\nhocket_runtime_workers{runtime=\"same\"} 3\n"));
  CHECK(contains(text, "\nhocket_http_answers_total{server=\"http\",class=\"2xx\"} 0\n"));
  std::set<std::string_view> series;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    CAPTURE(line);
    if (!line.starts_with('#')) CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
  }
  auto ended = spawn(lp, [&]() -> task<> {
    static_cast<void>(co_await a.graceful_shutdown({}));
    static_cast<void>(co_await b.graceful_shutdown({}));
  });
  lp.run_until(ended);
}

TEST_CASE("values that are no numbers have names") {
  for (const auto& [value, expected] :
       {std::pair(std::numeric_limits<double>::infinity(), "+Inf\n"),
        std::pair(-std::numeric_limits<double>::infinity(), "-Inf\n"),
        std::pair(std::numeric_limits<double>::quiet_NaN(), "NaN\n"), std::pair(1e21, "1e+21\n"),
        std::pair(9007199254740993.0, "9007199254740992\n")}) {
    const tank object{"x", value};
    const metric_source listed(object);
    CHECK(contains(http::metrics_text(), std::string("} ") + expected));
  }
}

TEST_CASE("a runtime is in the text under its name, until its end") {
  {
    runtime rt({.workers = 2, .name = "main"});
    const std::string text = http::metrics_text();
    CHECK(contains(text, "\nhocket_runtime_workers{runtime=\"main\"} 2\n"));
    CHECK(contains(text, "\n# TYPE hocket_runtime_turns_total counter\nhocket_runtime_turns_total{runtime=\"main\"} "));
    CHECK(contains(text, "\nhocket_frame_depot_bytes "));
  }
  CHECK_FALSE(contains(http::metrics_text(), "hocket_runtime_workers"));
}

TEST_CASE("the blocking pool of the process is in the text from its first use on") {
  const runtime rt({.workers = 1});
  static_cast<void>(blocking_pool::process_pool());
  CHECK(contains(http::metrics_text(), "\nhocket_blocking_threads "));
}
