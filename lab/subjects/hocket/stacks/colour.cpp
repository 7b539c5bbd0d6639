// Where the tops of the stacks lie, in round trips of bare coroutines.
//
//   hocket-coloured    where hocket's pool puts them: staggered by cache lines within a page
//   tops-page-aligned  the same stacks, each top at the end of its page: all tops in the same sets of the first cache
//   tops-64k-apart     stacks whose size is a power of two, as malloc and mmap give them: in the same sets of the
//                      second one
#include "bare.hpp"
#include "slab.hpp"

namespace {

int measure(const char* system, const lab::request& r, lab::bare_coroutines& coroutines) {
  auto nothing = [](std::size_t) {};
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) { return coroutines.rounds(k, nothing); });
  coroutines.check();
  lab::emit(system, "colour", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}

// The end of the page that the top lies in, or the top itself. A colour is less than a page, so that is the stack's
// own.
void* page_end(std::byte* top) {
  return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(top) + 4095) & ~4095ul);
}

}  // namespace

int lab::colour(const char* system, const request& r) {
  std::string_view name = system;
  if (name == "tops-64k-apart") {
    address_space stacks{r.n, r.stack};
    bare_coroutines coroutines{r.n, r.stack, [&](std::size_t i) -> void* { return stacks.top(i); }};
    return measure(system, r, coroutines);
  }
  bool is_coloured = name == "hocket-coloured";
  if (!is_coloured && name != "tops-page-aligned") unknown_system();
  pooled_stacks stacks{r.n, r.stack};
  bare_coroutines coroutines{
      r.n, r.stack, [&](std::size_t i) -> void* { return is_coloured ? stacks.top(i) : page_end(stacks.top(i)); }};
  return measure(system, r, coroutines);
}
