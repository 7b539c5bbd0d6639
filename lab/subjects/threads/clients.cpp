// A thread per concurrent question, on a blocking client. LAB_CLIENT is the client's header.
#include <barrier>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include LAB_CLIENT

namespace {

// As many connections as threads, so that no thread waits for one.
class pool {
 public:
  std::unique_ptr<lab::client> borrow(const lab::client_workload& what) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto one = std::move(idle_.back());
        idle_.pop_back();
        return one;
      }
    }
    return std::make_unique<lab::client>(what);
  }
  void give_back(std::unique_ptr<lab::client> one) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<lab::client>> idle_;
};

class threads {
 public:
  explicit threads(const lab::client_workload& what)
      : what_(what), begin_(static_cast<std::ptrdiff_t>(what.n) + 1), end_(static_cast<std::ptrdiff_t>(what.n) + 1) {
    lab::client::begin();
    for (std::size_t i = 0; i < what.n; ++i)
      threads_.emplace_back([this, i] {
        for (begin_.arrive_and_wait(); times_ != 0; begin_.arrive_and_wait()) {
          for (std::size_t k = 0; k < times_; ++k) ask(i);
          end_.arrive_and_wait();
        }
      });
  }
  ~threads() {
    times_ = 0;
    begin_.arrive_and_wait();
  }
  void ask_all(std::size_t times) {
    times_ = times;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
  }

 private:
  void ask(std::size_t number) {
    if (what_.connects()) {
      lab::client(what_).ask(number);
      return;
    }
    auto lent = idle_.borrow(what_);
    lent->ask(number);
    idle_.give_back(std::move(lent));
  }

  const lab::client_workload what_;
  pool idle_;
  std::barrier<> begin_, end_;
  std::size_t times_ = 0;  // written before begin_
  std::vector<std::jthread> threads_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_clients<threads>(LAB_SYSTEM, argc, argv); }
