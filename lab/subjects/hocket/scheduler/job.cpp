// Jobs of hocket's runtime: functions that a plain thread posts, without a coroutine around them.
#include <hocket/core/post.hpp>
#include <hocket/runtime/runtime.hpp>

#include "scheduler/scheduler.hpp"

namespace {

using lab::load;

void post_outside(const char* system, const load& r) {
  hocket::runtime rt({.workers = r.workers});
  lab::post_outside(system, r, [&](lab::countdown& jobs) { hocket::post(rt, [&jobs] { jobs.done(); }); });
}

constexpr lab::named_load loads[] = {{"post_outside", post_outside}};

}  // namespace

int main(int argc, char** argv) { return lab::run_load("hocket-job", argc, argv, loads); }
