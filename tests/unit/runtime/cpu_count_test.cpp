// How many CPUs a process may use: its affinity mask, and the quota of its control groups, whose files are written
// here.
#include <hocket/runtime/runtime.hpp>

#include "runtime/platform/cpu_count.hpp"
#include "support/death.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>

using namespace hocket_test;

namespace {

// A folder with proc and sys of its own, for as long as it lives.
class files_of_a_machine {
 public:
  files_of_a_machine() {
    std::string name = std::filesystem::temp_directory_path() / "hocket-groups-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  files_of_a_machine(const files_of_a_machine&) = delete;
  files_of_a_machine& operator=(const files_of_a_machine&) = delete;
  ~files_of_a_machine() { std::filesystem::remove_all(root_); }

  void own_groups(const std::string& lines) const { write("proc/self/cgroup", lines); }
  void version_2(const std::string& group, const std::string& limit) const {
    write("sys/fs/cgroup" + group + "/cpu.max", limit + "\n");
  }
  void version_1(const std::string& group, const std::string& quota, const std::string& period) const {
    write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_quota_us", quota + "\n");
    write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_period_us", period + "\n");
  }
  std::size_t cpus() const { return hocket::detail::cpus_of_quota(root_.string()); }

 private:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("a process has no more CPUs than its affinity mask") {
  const child_end end = end_of_child([] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &mask);
    if (::sched_setaffinity(0, sizeof mask, &mask) != 0) std::fputs("no mask", stderr);
    const hocket::runtime rt;
    std::fprintf(stderr, "%zu CPUs, %zu workers", hocket::detail::usable_cpus(), rt.workers());
  });
  CHECK(end.errors == "1 CPUs, 1 workers");
}

TEST_CASE("without a quota nothing limits the CPUs") {
  const files_of_a_machine files;
  CHECK(files.cpus() == 0);
  files.own_groups("0::/\n");
  CHECK(files.cpus() == 0);
  files.own_groups("0::/all/job\n");
  files.version_2("/all/job", "max 100000");
  CHECK(files.cpus() == 0);
}

TEST_CASE("a quota of version 2 is rounded up to whole CPUs") {
  const files_of_a_machine files;
  files.own_groups("0::/all\n");
  for (auto [limit, cpus] : {std::pair{"100000 100000", 1u},
                             {"100001 100000", 2u},
                             {"350000 100000", 4u},
                             {"5000 100000", 1u},
                             {"80000 10000", 8u}}) {
    CAPTURE(limit);
    files.version_2("/all", limit);
    CHECK(files.cpus() == cpus);
  }
}

TEST_CASE("each group above the process limits it, too") {
  const files_of_a_machine files;
  files.own_groups("0::/a/b/c\n");
  files.version_2("/a/b/c", "400000 100000");
  CHECK(files.cpus() == 4);
  files.version_2("/a", "300000 100000");
  CHECK(files.cpus() == 3);
  files.version_2("/a/b", "max 100000");
  CHECK(files.cpus() == 3);
  files.version_2("", "200000 100000");  // the mount: in a container its own group
  CHECK(files.cpus() == 2);
  files.version_2("/a/x", "100000 100000");  // of others
  CHECK(files.cpus() == 2);
}

TEST_CASE("a quota of version 1 is that of the process's own group") {
  const files_of_a_machine files;
  files.own_groups("5:memory:/elsewhere\n4:cpu,cpuacct:/all/job\n1:name=systemd:/other\n");
  files.version_1("", "-1", "100000");
  CHECK(files.cpus() == 0);
  files.version_1("/elsewhere", "100000", "100000");
  CHECK(files.cpus() == 0);
  files.version_1("/all/job", "500000", "100000");
  CHECK(files.cpus() == 5);
  files.version_1("/all", "250000", "100000");
  CHECK(files.cpus() == 3);
}

TEST_CASE("a group of version 1 that is not mounted here leaves the limit of the mount") {
  const files_of_a_machine files;
  files.own_groups("4:cpu,cpuacct:/outside/of/the/container\n0::/\n");
  files.version_1("", "200000", "100000");
  CHECK(files.cpus() == 2);
}

TEST_CASE("what is no group says nothing") {
  const files_of_a_machine files;
  files.own_groups("\nnothing\n4:cpu\n0::\n0::work\n");
  files.version_2("/all", "not a limit");
  CHECK(files.cpus() == 0);
}
