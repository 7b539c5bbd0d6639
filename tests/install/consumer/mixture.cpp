// Includes a header of hocket and uses nothing of it. Compiled in another layout than the library's, it does not link.
#include <hocket/base/fatal.hpp>

int main() { return 0; }
