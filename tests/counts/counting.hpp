#pragma once
// Instructions counted under Valgrind's callgrind (outside of it both do nothing), and bytes.

namespace counts {

// Counts from here on.
void begin() noexcept;

// Writes what was counted since begin() into a file of its own, under this label.
void end(const char* label) noexcept;

// Prints what coroutines take in memory: "<name> <bytes>" in each line.
void print_frames();

}  // namespace counts
