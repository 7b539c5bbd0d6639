// Runs a fuzzer without libFuzzer: driver <corpus folder> <mutations>. Each file of the corpus is an input. Then
// mutations of the files follow, in an order that depends on nothing but the corpus. Prints the number of inputs.
//
// A failure prints the input as hexadecimal text, so that it can become a file of the corpus.
#include "fuzz.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

std::string present_input;  // read by the signal handler

void print_input(int) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char c : present_input) {
    const auto byte = static_cast<unsigned char>(c);
    const char text[2] = {digits[byte >> 4], digits[byte & 15]};
    if (::write(2, text, 2) != 2) break;
  }
  static_cast<void>(::write(2, "\n", 1));
  std::_Exit(1);
}

// Memory in front of a page that must not be read: a read behind the input ends the program.
class guarded_memory {
 public:
  guarded_memory() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const pages = ::mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || ::mprotect(static_cast<char*>(pages) + size, page, PROT_NONE) != 0) std::abort();
    end_ = static_cast<char*>(pages) + size;
  }
  const std::uint8_t* copy(std::string_view input) {
    std::copy(input.begin(), input.end(), end_ - input.size());
    return reinterpret_cast<const std::uint8_t*>(end_ - input.size());
  }

  static constexpr std::size_t size = 1 << 20;

 private:
  char* end_;
};

void run(std::string input) {
  static guarded_memory memory;
  present_input = std::move(input);
  present_input.resize(std::min(present_input.size(), guarded_memory::size));
  LLVMFuzzerTestOneInput(memory.copy(present_input), present_input.size());
}

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

// Bytes that delimit something in HTTP.
constexpr std::string_view delimiters("\r\n \t:;,=\"\\/?%.*#@[]{}0159aAfFgG+-_\0\x7f\x80\xff", 46);

class mutator {
 public:
  explicit mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string next() {
    std::string text = pick();
    for (std::size_t changes = 1 + below(4); changes != 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& pick() { return corpus_[below(corpus_.size())]; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const char delimiter = delimiters[below(delimiters.size())];
    switch (below(7)) {
      case 0: text.insert(at, 1, delimiter); break;
      case 1: text.erase(at, 1 + below(4)); break;
      case 2:
        if (at < text.size()) text[at] = delimiter;
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random_() & 0xff);
        break;
      case 4: text.insert(at, text.substr(below(text.size()), below(24))); break;
      case 5: {
        const std::string& other = pick();
        text = text.substr(0, at) + other.substr(below(other.size()));
        break;
      }
      default: text.insert(at, below(40), delimiter); break;
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937 random_{1};
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s <corpus folder> <mutations>\n", arguments[0]);
    return 2;
  }
  std::signal(SIGABRT, print_input);
  std::signal(SIGSEGV, print_input);
  const std::vector<std::string> corpus = read_corpus(arguments[1]);
  if (corpus.empty()) return 2;
  for (const std::string& input : corpus) run(input);
  mutator inputs(corpus);
  const long mutations = std::atol(arguments[2]);
  for (long i = 0; i != mutations; ++i) run(inputs.next());
  std::printf("%zu files, %ld mutations\n", corpus.size(), mutations);
}
