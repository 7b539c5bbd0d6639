// The layout symbol of this library, and the check that a process has one layout.
//
// The linker finds most mixtures (base/detail/platform/layout.hpp). One mixture links: a plug-in that contains a hocket
// of its own. If the program exports its hocket, or g++ has made a variable unique in the process (STB_GNU_UNIQUE),
// then the plug-in's code uses variables of the other layout. `process_layout` is such a variable. The copy that is
// loaded second finds the name of the first copy in it, and ends the process while dlopen() runs, before the
// initialisers of the plug-in's own code. If the plug-in hides its hocket (compiled with -fvisibility=hidden, or an
// archive linked with -Wl,--exclude-libs,ALL), then the two copies share nothing, and both may stay.
#include <hocket/base/fatal.hpp>

#include <cstdio>
#include <cstring>

#define HOCKET_LAYOUT_TEXT2(name) #name
#define HOCKET_LAYOUT_TEXT(name) HOCKET_LAYOUT_TEXT2(name)

extern "C" {
const char HOCKET_LAYOUT = 1;

// If a program links two libraries of hocket statically, then the linker reports a multiple definition of this symbol.
extern const char hocket_is_linked_once;
const char hocket_is_linked_once = 1;
}

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Volatile: its value is what the first copy in the process has stored.
inline const char* volatile process_layout = HOCKET_LAYOUT_TEXT(HOCKET_LAYOUT);

namespace {

void require_one_layout() noexcept {
  static constexpr char own[] = HOCKET_LAYOUT_TEXT(HOCKET_LAYOUT);
  const char* const first = process_layout;
  if (std::strcmp(first, own) == 0) return;
  static char text[300];
  std::snprintf(text, sizeof text, "a second hocket is loaded whose layout differs: %s beside %s", own, first);
  fatal(text,
        "build both with the same version and options, or hide the plug-in's hocket: compile hocket with "
        "-fvisibility=hidden, or link its archives with -Wl,--exclude-libs,ALL");
}

struct layout_check {
  layout_check() noexcept { require_one_layout(); }
};

#if HOCKET_PORTABLE
// Without priorities the plug-in's own initialisers may run first.
const layout_check check_at_load;
const char* volatile referred = nullptr;  // volatile: no optimiser drops the reference
#else
[[gnu::init_priority(101)]] layout_check check_at_load;
#endif

}  // namespace

#if HOCKET_PORTABLE
bool refer_to_layout(const char& symbol) noexcept {
  referred = &symbol;
  return true;
}
#endif

}}}  // namespace hocket::detail
