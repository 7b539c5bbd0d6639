// Generators: a generator only computes, and may nest; an async_generator waits for its values.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace hocket;

namespace {

struct folder {
  std::string name;
  std::vector<folder> folders{};
};

// Every folder below this one: a value costs the same at any depth.
generator<const folder&> all_of(const folder& top) {
  co_yield top;
  for (const folder& below : top.folders) co_yield elements_of(all_of(below));
}

// A clock: a read waits for its next tick. The body runs under the reader's context, so a stop of the reader ends it.
async_generator<int> ticks(duration each, int count) {
  for (int i = 1; i <= count; ++i) {
    event never;
    auto waited = co_await within(each, never.wait());
    if (waited.error() != std::errc::timed_out) co_return;  // cancelled
    co_yield i;
  }
}

// The values of one generator are the input of another.
async_generator<std::string> named(async_generator<int> from) {
  while (int* n = co_await from.next()) co_yield "tick " + std::to_string(*n);
}

task<int> read_in_a_task() {
  int sum = 0;
  auto clock = ticks(std::chrono::microseconds(100), 3);
  while (int* n = co_await clock.next()) sum += *n;
  co_return sum;
}

}  // namespace

int main() {
  const folder root{"/", {{"usr", {{"bin"}, {"lib"}}}, {"tmp"}}};
  std::string path;
  for (const folder& each : all_of(root)) path += each.name + ' ';
  std::printf("%s\n", path.c_str());

  std::string last;
  int sum = run([&] {  // a fiber calls await where a task writes co_await
    auto texts = named(ticks(std::chrono::microseconds(100), 3));
    while (std::string* text = await(texts.next())) last = std::move(*text);
    return await(spawn(read_in_a_task));
  });
  std::printf("%s, %d\n", last.c_str(), sum);
  return path == "/ usr bin lib tmp " && last == "tick 3" && sum == 6 ? 0 : 1;
}
