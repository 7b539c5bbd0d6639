// The list of sources of metrics.
#include <hocket/base/metrics.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace hocket;

namespace {

constexpr metric size_of_test{"test_size", "A number of the test.", metric_kind::gauge};

// Other sources of the process are left out.
struct texts final : metric_visitor {
  void add(const metric& description, std::initializer_list<metric_label> labels, double value) override {
    if (&description != &size_of_test) return;
    std::string line = description.name;
    for (const metric_label& label : labels) line.append(" ").append(label.name).append("=").append(label.value);
    lines.push_back(line + " " + std::to_string(static_cast<int>(value)));
  }
  std::vector<std::string> lines;
};

std::vector<std::string> collect() {
  texts all;
  collect_metrics(all);
  return all.lines;
}

struct counted {
  explicit counted(std::string_view text, int n) : name(text), value(n) {}
  void report_metrics(metric_visitor& to) const {
    if (fails) throw std::runtime_error("no report");
    to.add(size_of_test, {{"name", name}}, value);
  }
  std::string_view name;
  int value;
  bool fails = false;
  metric_source metrics{*this};
};

}  // namespace

TEST_CASE("a source is in the list from its construction to its destruction, in this order") {
  CHECK(collect().empty());
  {
    counted first("first", 1);
    {
      counted second("second", 2);
      CHECK(collect() == std::vector<std::string>{"test_size name=first 1", "test_size name=second 2"});
    }
    first.value = 3;
    CHECK(collect() == std::vector<std::string>{"test_size name=first 3"});
  }
  CHECK(collect().empty());
}

TEST_CASE("a source that was moved is listed once, and leaves with its last owner") {
  counted object("object", 1);
  metric_source moved(std::move(object.metrics));
  CHECK(collect().size() == 1);
  object.metrics = std::move(moved);
  CHECK(collect().size() == 1);
  object.metrics = metric_source();
  CHECK(collect().empty());
}

TEST_CASE("an exception of a report leaves the list usable") {
  counted object("object", 1);
  object.fails = true;
  CHECK_THROWS_AS(collect(), std::runtime_error);
  object.fails = false;
  CHECK(collect().size() == 1);
}

TEST_CASE("a forked child begins with an empty list, and may destroy a source of its parent") {
  auto object = new counted("of the parent", 1);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool was_empty = collect().empty();
    delete object;
    const counted own("own", 1);
    ::_exit(was_empty && collect().size() == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(collect().size() == 1);
  delete object;
}
