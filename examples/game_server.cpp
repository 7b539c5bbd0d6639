// A game server's frame loop: the loop belongs to the game, which gives it 16 ms at a time. A login is an ordinary
// function; it runs as a fiber and waits for an answer of the data base, at most three seconds.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// The game's own transport, which knows nothing of coroutines: requests go out, answers come in at some later frame.
class database {
 public:
  oneshot_receiver<std::string> load(int player) {
    auto [answer, reply] = make_oneshot<std::string>();
    waiting_.emplace(player, std::move(answer));
    return std::move(reply);
  }
  void answer_one() {
    if (waiting_.empty()) return;
    auto first = waiting_.begin();
    static_cast<void>(first->second.send("player " + std::to_string(first->first)));
    waiting_.erase(first);
  }

 private:
  std::map<int, oneshot_sender<std::string>> waiting_;
};

struct game {
  database db;
  int entered = 0;
  int frame = 0;
  bool tick() {
    db.answer_one();
    return ++frame < 10;
  }
};

void login(game& world, int player) {
  auto reply = world.db.load(player);
  auto row = await(within(3s, reply.receive()));  // late or cancelled is a value
  if (!row) {
    std::printf("kicked %d: %s\n", player, row.error().message().c_str());
    return;
  }
  std::printf("frame %d: %s enters\n", world.frame, row->c_str());
  ++world.entered;
}

}  // namespace

int main() {
  game world;
  loop lp;  // declared after what its coroutines use
  for (int player : {1, 2, 3}) spawn(lp, {.name = "login"}, login, std::ref(world), player);
  while (world.tick()) lp.run_for(1ms);
  return world.entered == 3 ? 0 : 1;
}
