#pragma once

// The message of one of our refusals, as the API server prints it: the name of the called webhook,
// and our message. The name ends with the name of the quota API. It may begin with the first of the
// resources that are limited in the same namespaces, which depends on quotas of other scenarios.

#include <iosfwd>
#include <string>

namespace e2e {

struct Denial {
  std::string quota_api;
  std::string words;
};
bool operator==(const std::string& message, const Denial& denial);
std::ostream& operator<<(std::ostream& out, const Denial& denial);

// Refusals by quotas of core, karmada and ironcore.
Denial Denied(std::string words);
Denial DeniedByKarmada(std::string words);
Denial DeniedByCloud(std::string words);

}  // namespace e2e
