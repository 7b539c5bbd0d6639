// gc::boehm is started by a static constructor, before the first test.
#include "herd.hpp"

namespace hocket_test {

const GC_push_other_roots_proc roots_of_libgc = (GC_init(), GC_get_push_other_roots());

namespace {
[[maybe_unused]] const bool started = (hocket::gc::boehm::start(), true);
}  // namespace

}  // namespace hocket_test
