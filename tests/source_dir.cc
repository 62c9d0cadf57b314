#include "tests/source_dir.h"

namespace tests {

std::string SourcePath(std::string_view path) { return std::string(QCM_SOURCE_DIR).append(path); }

}  // namespace tests
