// An old client library answers by callbacks. A completion lets a coroutine wait for an answer. A context_local carries
// the user of a question without a parameter. A cancelled coroutine still sends its last message (shielded).
#include <hocket/stackless.hpp>

#include <cstdio>
#include <deque>
#include <string>

using namespace hocket;

namespace {

context_local<std::string> user;

// The library: one question at a time for each line, and a function that polls for answers.
class old_client {
 public:
  using answered = void (*)(void* line, int answer);
  void ask(std::string text, answered then, void* line) {
    log_ += text + ' ';
    asked_.push_back({then, line, static_cast<int>(text.size())});
  }
  bool poll() {
    if (asked_.empty()) return false;
    auto [then, line, answer] = asked_.front();
    asked_.pop_front();
    then(line, answer);
    return true;
  }
  const std::string& log() const { return log_; }

 private:
  struct question {
    answered then;
    void* line;
    int answer;
  };
  std::deque<question> asked_;
  std::string log_;
};

// Answers arrive in the order of the questions. If the waiter of a question has left, its answer does not complete the
// next question, because its completer belongs to a round that has ended.
class connection {
 public:
  explicit connection(old_client& by) : client_(by) {}
  connection(const connection&) = delete;

  task<result<int>> ask(std::string text) {
    answer_.reset();
    due_.push_back(answer_.make_completer());
    client_.ask(*user + ':' + text, [](void* line, int n) { static_cast<connection*>(line)->take(n); }, this);
    co_return co_await or_return(answer_.wait());
  }

 private:
  void take(int answer) {
    due_.front().complete(answer);
    due_.pop_front();
  }

  old_client& client_;
  completion<int> answer_;
  std::deque<completion<int>::completer> due_;
};

// Asks until it is cancelled; then its last message is answered, too.
task<int> converse(old_client& client) {
  connection line(client);
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    auto doubled = then(line.ask("more"), [](result<int> n) { return n ? 2 * *n : 0; });
    const int answer = co_await std::move(doubled);
    if (!answer) break;
    sum += answer;
  }
  auto goodbye = co_await shielded(line.ask("bye"));
  co_return goodbye ? sum : -1;
}
task<int> converse_as(std::string name, old_client& client) { return user.with(name, converse(client)); }

}  // namespace

int main() {
  loop lp;
  old_client client;
  auto ann = spawn(lp, converse_as, "ann", std::ref(client));
  auto bob = spawn(lp, converse_as, "robert", std::ref(client));
  for (int turn = 0; !ann.done() || !bob.done(); ++turn) {
    lp.run_for(std::chrono::milliseconds(0));
    if (turn == 3) ann.cancel(), bob.cancel();
    else client.poll();
  }
  std::printf("%s\n", client.log().c_str());
  return sync_wait(ann) == 2 * 2 * 8 && sync_wait(bob) == 2 * 11 &&
                 client.log() == "ann:more robert:more ann:more robert:more ann:more ann:bye robert:bye "
             ? 0
             : 1;
}
