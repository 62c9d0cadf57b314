#pragma once

// The report: one HTML page that loads nothing from elsewhere, light or dark like the reader's
// system, and readable on a phone. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/inspect/holders.h"
#include "pkg/inspect/usage_line.h"

namespace inspect {

struct PageHolders {
  std::string name;  // "requests.cpu"
  std::vector<Holder> holders;
};

struct Page {
  std::string title;   // "team-a", "all namespaces"
  std::string source;  // the server that it was read from
  base::WallTime made;
  std::vector<UsageLine> lines;      // the fullest first
  std::vector<PageHolders> holders;  // the largest holders, by name
  std::vector<std::string> notes;    // what could not be read
};

std::string PageHtml(const Page& page);

}  // namespace inspect
