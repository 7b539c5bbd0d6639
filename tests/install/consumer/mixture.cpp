// Compiled with another assertion level than the library's: must not link.
#include <hocket/base/fatal.hpp>

int main() { hocket::notice("mixed"); }
