// Each hooked call, on a thread and in a hooked fiber: the same result, errno and output. A difference has its reason
// in the table. A name of hooked.list without a row must be another name of a call that has rows.
#include "thread_and_fiber.hpp"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

using namespace hooked_tests;

namespace {

const std::map<std::string, std::string> other_names{
    {"__open64_2", "open"},
    {"__open_2", "open"},
    {"__openat64_2", "openat"},
    {"__openat_2", "openat"},
    {"__poll_chk", "poll"},
    {"__ppoll_chk", "ppoll"},
    {"__pread64_chk", "pread"},
    {"__pread_chk", "pread"},
    {"__read_chk", "read"},
    {"__recv_chk", "recv"},
    {"__recvfrom_chk", "recvfrom"},
    {"creat64", "creat"},
    {"fcntl64", "fcntl"},
    {"lockf64", "lockf"},
    {"open64", "open"},
    {"openat64", "openat"},
    {"pread64", "pread"},
    {"preadv64", "preadv"},
    {"preadv64v2", "preadv2"},
    {"pwrite64", "pwrite"},
    {"pwritev64", "pwritev"},
    {"pwritev64v2", "pwritev2"},
    {"sendfile64", "sendfile"},
    {"vfork", "fork, which is not in the list: scopes_test.cpp"},
};

std::string described(const observation& observed) {
  std::ostringstream text;
  text << observed.result << ", errno " << observed.error << ", " << observed.output;
  return text.str();
}

observation on_thread(const row& each) {
  observation observed;
  std::thread([&] { observed = each.run(); }).join();
  return observed;
}
observation in_hooked_fiber(const row& each) {
  observation observed;
  in_fiber([&] { observed = each.run(); });
  return observed;
}

template <class F>
void for_each_row(F f) {
  for (const auto rows : {socket_rows(), descriptor_rows(), other_rows()})
    for (const row& each : rows) f(each);
}

}  // namespace

TEST_CASE("each hooked call gives a fiber what it gives a thread, but for the differences in the table") {
  std::size_t rows = 0;
  for_each_row([&](const row& each) {
    CAPTURE(std::string(each.call));
    CAPTURE(std::string(each.variant));
    const std::string thread = described(on_thread(each)), fiber = described(in_hooked_fiber(each));
    if (each.difference) CHECK(thread != fiber);
    else CHECK(thread == fiber);
    ++rows;
  });
  MESSAGE(rows, " rows");
}

TEST_CASE("each hooked call has a row of the table") {
  std::set<std::string> calls;
  for_each_row([&](const row& each) { calls.insert(each.call); });
  std::ifstream file(HOCKET_HOOKED_LIST);
  REQUIRE(file);
  std::string line;
  std::size_t names = 0;
  for (std::smatch match; std::getline(file, line);) {
    if (!std::regex_match(line, match, std::regex("  (\\w+);"))) continue;
    ++names;
    const std::string name = match[1];
    CAPTURE(name);
    CHECK((calls.contains(name) || other_names.contains(name)));
  }
  CHECK(names > 90);
}
