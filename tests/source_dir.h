#pragma once

#include <string>
#include <string_view>

namespace tests {

// The path of a file of the source tree: SourcePath("/manifests/base"). Only source_dir.cc is
// compiled with the folder of the tree, so ccache knows all other files in any folder.
std::string SourcePath(std::string_view path);

}  // namespace tests
