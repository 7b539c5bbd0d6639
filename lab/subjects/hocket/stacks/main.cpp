#include "effects.hpp"

namespace {

struct effect {
  std::string_view workload;
  int (*measure)(const char* system, const lab::request& r);
};

constexpr effect effects[] = {
    {"first_entry", lab::first_entry},
    {"guard", lab::guards},
    {"colour", lab::colour},
    {"dense", lab::dense},
    {"order", lab::order},
    {"saved", lab::saved},
    {"ownership", lab::ownership},
    {"atomics", lab::atomics},
    {"optimised", lab::optimised},
    {"two_threads", lab::two_threads},
    {"copying", lab::copying},
    {"hibernation", lab::hibernation},
    {"parked", lab::parked_bytes},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) lab::fail("usage: subject <system> <workload> <n> <stack bytes> <budget ms>");
  lab::request r = lab::parse(argc - 1, argv + 1);
  for (const effect& each : effects) {
    if (each.workload == r.workload) return each.measure(argv[1], r);
  }
  lab::fail("this subject does not know that workload");
}
