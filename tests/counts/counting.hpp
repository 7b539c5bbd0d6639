#pragma once
// Instructions counted under Valgrind's callgrind. Outside of it both do nothing.

namespace counts {

// Counts from here on.
void begin() noexcept;

// Writes what was counted since begin() into a file of its own, under this label.
void end(const char* label) noexcept;

}  // namespace counts
