// Calls that block, from a server's coroutines: files are read on threads of their own, at most two at a time, while
// the loop goes on; who is too late for a thread gives up.
#include <hocket/stackless.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Blocks like every use of a file.
result<long> count_words(std::FILE* in) {
  if (!in) return failure(std::make_error_code(std::errc::no_such_file_or_directory));
  long words = 0;
  std::array<char, 64> word{};
  while (std::fscanf(in, "%63s", word.data()) == 1) ++words;
  return words;
}

task<result<long>> count_all(blocking_pool& disks, std::vector<std::FILE*> files) {
  long sum = 0;
  for (std::FILE* file : files) sum += co_await or_return(within(5s, blocking(disks, count_words, file)));
  co_return sum;
}

std::FILE* file_of(const char* text) {
  std::FILE* file = std::tmpfile();
  if (!file) return nullptr;
  std::fputs(text, file);
  std::rewind(file);
  return file;
}

}  // namespace

int main() {
  blocking_pool disks({.threads = 2, .name = "disks"});
  std::vector<std::FILE*> files = {file_of("to be or not to be"), file_of("that is the question")};
  loop lp;
  auto words = spawn(lp, count_all, std::ref(disks), files);
  lp.run();
  const result<long> sum = sync_wait(std::move(words));
  if (sum) std::printf("%ld words\n", *sum);
  else std::fprintf(stderr, "not counted: %s\n", sum.error().message().c_str());
  for (std::FILE* file : files) {
    if (file) std::fclose(file);
  }
  return sum == 10 ? 0 : 1;  // 1 after an error, too
}
