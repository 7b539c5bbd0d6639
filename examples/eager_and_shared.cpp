// A cache of pages. Looking one up is an eager task: what is known is there at once, without a suspension. Loading one
// is a shared task: however many ask for a page meanwhile, it is loaded once, and all get the same.
#include <hocket/stackless.hpp>

#include <cstdio>
#include <map>
#include <string>

using namespace hocket;

namespace {

class page_cache {
 public:
  // The page lives as long as the cache.
  eager_task<const std::string&> find(int number) {
    auto known = pages_.find(number);
    if (known == pages_.end()) known = pages_.emplace(number, load(number)).first;
    shared_task<std::string> page = known->second;
    co_return co_await page;
  }
  int loads() const { return loads_; }

 private:
  shared_task<std::string> load(int number) {
    ++loads_;
    co_await yield();  // as reading it would
    co_return "page " + std::to_string(number);
  }

  std::map<int, shared_task<std::string>> pages_;
  int loads_ = 0;
};

task<std::size_t> read(page_cache& from) {
  auto first = from.find(1);  // both are being loaded
  auto second = from.find(2);
  const std::string& one = co_await std::move(first);
  const std::string& two = co_await std::move(second);
  auto again = from.find(1);
  const bool at_once = again.is_ready();
  const std::string& same = co_await std::move(again);
  co_return at_once && &same == &one ? one.size() + two.size() : 0;
}

task<bool> read_thrice(page_cache& from) {
  auto body = [&](scope& all) -> task<bool> {
    auto a = spawn(all, read, std::ref(from));
    auto b = spawn(all, read, std::ref(from));
    auto c = spawn(all, read, std::ref(from));
    const std::size_t sum = co_await a + co_await b + co_await c;
    co_return sum == 36;
  };
  co_return co_await in_scope(body);
}

}  // namespace

int main() {
  page_cache pages;
  const bool right = run(read_thrice, std::ref(pages));
  std::printf("%d pages loaded\n", pages.loads());
  return right && pages.loads() == 2 ? 0 : 1;
}
