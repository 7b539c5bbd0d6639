// The layout symbol of this library, and the check that a process has one layout.
//
// The linker finds most mixtures (base/detail/platform/layout.hpp). One mixture links: a plug-in that contains a hocket
// of its own. If the program exports its hocket, or g++ has made a variable unique in the process (STB_GNU_UNIQUE),
// then the plug-in's code uses variables of the other layout. `process_layout` is such a variable. The copy that is
// loaded second finds the name of the first copy in it, and ends the process while dlopen() runs. If the plug-in hides
// its hocket (-fvisibility=hidden), then the two copies share nothing, and both may stay.
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

bool require_one_layout() noexcept {
  static constexpr char own[] = HOCKET_LAYOUT_TEXT(HOCKET_LAYOUT);
  const char* const first = process_layout;
  if (std::strcmp(first, own) == 0) return true;
  static char text[300];
  std::snprintf(text, sizeof text, "a second hocket is loaded whose layout differs: %s beside %s", own, first);
  fatal(text, "build both with the same version and options, or hide the plug-in's hocket (-fvisibility=hidden)");
}

[[maybe_unused]] const bool has_one_layout = require_one_layout();

}  // namespace

#if HOCKET_PORTABLE
bool refer_to_layout(const char& symbol) noexcept { return symbol != 0; }
#endif

}}}  // namespace hocket::detail
