#include "subjects.hpp"

namespace {

int measure(const char* system, const lab::request& r) {
  if (r.workload == "when_all") return lab::together(system, r);
  if (r.workload == "async_values") return lab::steps(system, r);
  if (r.workload == "oneshot_trip") return lab::trips(system, r);
  return lab::kinds(system, r);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) lab::fail("usage: subject <system> <workload> <n> <stack bytes> <budget ms>");
  return measure(argv[1], lab::parse(argc - 1, argv + 1));
}
