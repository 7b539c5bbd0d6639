// Lua's coroutines, resumed from C++. Their body is a Lua function, since one in C would not be what a program in Lua
// has: in a round trip the interpreter goes round a loop, calls the function that counts, which is in C++, and yields.
//
// A coroutine lives as long as it is in the registry. `destroy` closes it and takes it out; the collector frees it when
// the interpreter creates others.
#include <lua.hpp>

#include "managed.hpp"

namespace {

constexpr const char* program = R"(
  local yield = coroutine.yield
  return function(count)
    while count() do yield() end
  end
)";

class coroutines {
 public:
  coroutines(std::size_t n, std::size_t) : state_{luaL_newstate()}, all_{n} {
    if (!state_) lab::fail("no memory for an interpreter");
    luaL_openlibs(state_);
    if (luaL_dostring(state_, program) != LUA_OK) lab::fail(lua_tostring(state_, -1));
  }
  coroutines(const coroutines&) = delete;
  coroutines& operator=(const coroutines&) = delete;
  ~coroutines() { lua_close(state_); }

  void create(std::size_t i, lab::line& mine) {
    all_.put(i, [&] {
      lua_State* made = lua_newthread(state_);
      const int key = luaL_ref(state_, LUA_REGISTRYINDEX);
      lua_pushvalue(state_, body);
      lua_xmove(state_, made, 1);
      lua_pushlightuserdata(made, &mine);
      lua_pushcclosure(made, &count, 1);
      return coroutine{made, key, 1};
    });
  }
  void resume(std::size_t i) {
    coroutine& one = all_[i];
    int results = 0;
    one.status = lua_resume(one.state, state_, std::exchange(one.arguments, 0), &results);
    if (one.status > LUA_YIELD) lab::fail(lua_tostring(one.state, -1));
  }
  void finish(std::size_t i) {
    resume(i);
    if (all_[i].status != LUA_OK) lab::fail("a coroutine went on after its end");
  }
  void drop(std::size_t i) {
    luaL_unref(state_, LUA_REGISTRYINDEX, all_[i].key);
    all_.drop(i);
  }

 private:
  struct coroutine {
    lua_State* state;
    int key;        // in the registry
    int arguments;  // of the next resume
    int status = LUA_OK;
  };
  static constexpr int body = 1;  // where it lies on the interpreter's stack

  static int count(lua_State* of) {
    auto* mine = static_cast<lab::line*>(lua_touserdata(of, lua_upvalueindex(1)));
    const bool goes_on = !mine->stop;
    if (goes_on) ++mine->count;
    lua_pushboolean(of, goes_on);
    return 1;
  }

  lua_State* state_;
  lab::slots<coroutine> all_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload == "switch") return lab::run_switch<coroutines>(LAB_SYSTEM, r);
  return lab::run_managed<lab::by_owner<coroutines>>(LAB_SYSTEM, r);
}
