#include <hocket/redis/error.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {
namespace {

struct known_error {
  std::string_view code;
  errc error;
  const char* message;
};
constexpr known_error known[] = {
    {"ERR", errc::refused, "the server has refused the command"},
    {"ASK", errc::ask, "the key moves to another node (ASK)"},
    {"BUSY", errc::busy, "the server runs a script (BUSY)"},
    {"BUSYGROUP", errc::busy_group, "the consumer group exists (BUSYGROUP)"},
    {"CLUSTERDOWN", errc::cluster_down, "the cluster is down (CLUSTERDOWN)"},
    {"CROSSSLOT", errc::cross_slot, "the keys are in several slots (CROSSSLOT)"},
    {"EXECABORT", errc::exec_aborted, "the transaction was discarded (EXECABORT)"},
    {"LOADING", errc::loading, "the server loads its data (LOADING)"},
    {"MASTERDOWN", errc::master_down, "the replica has lost its master (MASTERDOWN)"},
    {"MISCONF", errc::misconfigured, "the server cannot save its data (MISCONF)"},
    {"MOVED", errc::moved, "the key is at another node (MOVED)"},
    {"NOAUTH", errc::no_auth, "authentication is required (NOAUTH)"},
    {"NOGROUP", errc::no_group, "there is no such consumer group (NOGROUP)"},
    {"NOPERM", errc::no_permission, "the user has no permission (NOPERM)"},
    {"NOREPLICAS", errc::no_replicas, "there are too few replicas (NOREPLICAS)"},
    {"NOSCRIPT", errc::no_script, "there is no such script (NOSCRIPT)"},
    {"OOM", errc::out_of_memory, "the server has reached its limit of memory (OOM)"},
    {"READONLY", errc::read_only, "the server is a read-only replica (READONLY)"},
    {"TRYAGAIN", errc::try_again, "the slot moves to another node (TRYAGAIN)"},
    {"UNBLOCKED", errc::unblocked, "the server has ended the blocking command (UNBLOCKED)"},
    {"UNKILLABLE", errc::unkillable, "the script has written, and cannot be killed (UNKILLABLE)"},
    {"WRONGPASS", errc::wrong_password, "wrong user name or password (WRONGPASS)"},
    {"WRONGTYPE", errc::wrong_type, "the key holds a value of another type (WRONGTYPE)"},
};

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "redis"; }
  std::string message(int value) const override {
    const auto* const found = std::find_if(std::begin(known), std::end(known), [&](const known_error& each) {
      return static_cast<int>(each.error) == value;
    });
    return found == std::end(known) ? "unknown error" : found->message;
  }
  std::error_condition default_error_condition(int) const noexcept override {
    return std::make_error_condition(std::errc::bad_message);
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const category instance;
  return instance;
}

errc error_of(std::string_view refusal) noexcept {
  const std::string_view code = refusal.substr(0, refusal.find(' '));
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const known_error& each) { return each.code == code; });
  return found == std::end(known) ? errc::refused : found->error;
}

}}}  // namespace hocket::redis
