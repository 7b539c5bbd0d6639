// Compiled in another configuration than the library: must not link.
#include <hocket/base/fatal.hpp>

int main() { hocket::detail::notice("mixed"); }
