// Weakening by the checker: it tells the orderings that matter from those that do not.
#include "verdict.hpp"

#include <string>

namespace {

using hocket::model::atomic;
using hocket::model::execution;
using hocket::model::fence;
using hocket::model::require;
using hocket::model::var;
using order = std::memory_order;
namespace model = hocket::model;

std::string line_of(int line, const char* what) {
  return "orderings_test.cpp:" + std::to_string(line) + ": " + what + "\n";
}

}  // namespace

TEST_CASE("in message passing nothing can be weaker than release and acquire") {
  auto unneeded = model::unneeded_orderings({}, [](execution& run) {
    atomic<bool> ready{false, "ready"};
    var<int> data{0, "data"};
    run.thread("producer", [&] {
      data = 1;
      ready.store(true, order::release);
    });
    run.thread("consumer", [&] {
      if (ready.load(order::acquire)) require(data == 1);
    });
    run.join();
  });
  CHECK(unneeded == "");
}

TEST_CASE("an ordering that is stronger than needed is named with its line") {
  const int line = __LINE__ + 6;
  auto unneeded = model::unneeded_orderings({}, [](execution& run) {
    atomic<int> ready{0, "ready"};
    var<int> data{0, "data"};
    run.thread("producer", [&] {
      data = 1;
      ready.store(1, order::seq_cst);
    });
    run.thread("consumer", [&] {
      if (ready.exchange(2, order::acq_rel) == 1) require(data == 1);
    });
    run.join();
  });
  CHECK(unneeded == line_of(line, "seq_cst could be acq_rel") + line_of(line + 3, "acq_rel could be acquire"));
}

TEST_CASE("of several bodies one that needs an ordering is enough") {
  const int line = __LINE__ + 1;
  const auto publish = [](atomic<bool>& ready) { ready.store(true, order::release); };
  const auto body = [&](bool follows) {
    return [&publish, follows](execution& run) {
      atomic<bool> ready{false, "ready"};
      var<int> data{0, "data"};
      run.thread("producer", [&] {
        data = 1;
        publish(ready);
      });
      run.thread("consumer", [&] {
        if (ready.load(order::acquire) && follows) require(data == 1);
      });
      run.join();
    };
  };
  CHECK(model::unneeded_orderings({}, body(false)) ==
        line_of(line, "release could be relaxed") + line_of(line + 10, "acquire could be relaxed"));
  CHECK(model::unneeded_orderings({}, body(false), body(true)) == "");
  CHECK(model::unneeded_orderings({.weakened = "elsewhere"}, body(false)) == "");
}

TEST_CASE("store buffering needs both of its fences seq_cst") {
  auto unneeded = model::unneeded_orderings({}, [](execution& run) {
    atomic<int> x{0, "x"}, y{0, "y"};
    int first = 0, second = 0;
    run.thread("left", [&] {
      x.store(1, order::relaxed);
      fence(order::seq_cst);
      first = y.load(order::relaxed);
    });
    run.thread("right", [&] {
      y.store(1, order::relaxed);
      fence(order::seq_cst);
      second = x.load(order::relaxed);
    });
    run.join();
    require(first + second > 0);
  });
  CHECK(unneeded == "");
}
