#pragma once

#include <string>
#include <vector>

namespace controllers {

// Why some names of a quota are not counted now. At most one for each resource.
struct Obstacle {
  enum class Kind {
    kPending,       // in progress, without an error
    kForbidden,     // the daemon may not list or watch the resource
    kRefused,       // the server answers, but does not return the objects
    kSilent,        // the server does not answer for this resource
    kUnreadable,    // the amounts of an object cannot be read
    kClassMissing,  // objects use a class that does not exist
    kNotServed,     // the server has no such resource
  };
  Kind kind = Kind::kPending;
  std::string resource;                    // "widgets.example.com"
  std::vector<std::string> names;          // of the quota
  std::string why;                         // what was attempted, and why it failed
  bool in_part = false;                    // what can be read of objects is counted
  std::vector<std::string> held_out = {};  // those of `names` that are not in force, see HeldOut()
  bool operator==(const Obstacle&) const = default;
};

}  // namespace controllers
