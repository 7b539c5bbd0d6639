// Objects of libgc that nothing refers to but what a test does, and how many of them are alive.
#pragma once
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <hocket/gc/boehm.hpp>
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace hocket_test {

inline constexpr std::size_t herd_size = 1000;

struct object {
  std::uintptr_t mark;
  std::uintptr_t rest[5];
};

class herd {
 public:
  herd() : links_(static_cast<void**>(std::calloc(herd_size, sizeof(void*)))) {}
  herd(const herd&) = delete;
  herd& operator=(const herd&) = delete;
  ~herd() {
    for (std::size_t i = 0; i < herd_size; ++i) GC_unregister_disappearing_link(&links_[i]);
    std::free(links_);
  }

  // Object i. The link to it, in memory that libgc does not see, becomes null when it dies.
  [[gnu::noinline]] object* make(std::size_t i) {
    auto* const created = static_cast<object*>(GC_MALLOC(sizeof(object)));
    created->mark = mark_of(i);
    links_[i] = created;
    GC_general_register_disappearing_link(&links_[i], created);
    return created;
  }
  static std::uintptr_t mark_of(std::size_t i) noexcept { return 0xfeed'0000'0000'0001u + i * 2; }
  static bool is_intact(const object* member, std::size_t i) noexcept { return member->mark == mark_of(i); }

  [[gnu::noinline]] std::size_t alive() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < herd_size; ++i) count += links_[i] != nullptr;
    return count;
  }

 private:
  void** links_;
};

// What libgc has without hocket.
extern const GC_push_other_roots_proc roots_of_libgc;

// Overwrites the dead frames below the caller's.
template <std::size_t Bytes = 3000>
[[gnu::noinline]] void scrub() {
  volatile char dead[Bytes];
  for (volatile char& byte : dead) byte = 0;
}

[[gnu::noinline]] inline void collect() {
  scrub();
  GC_gcollect();
  GC_gcollect();
}

}  // namespace hocket_test
