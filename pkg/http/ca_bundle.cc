#include "pkg/http/certificate.h"
#include "pkg/http/openssl.h"

namespace http {
namespace openssl {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";

// Returns the text of each PEM block, from its first line to the next block. OpenSSL would read a
// block without a last line into the next one, and lose both.
std::vector<std::string> Blocks(std::string_view pem) {
  const std::string next = "\n" + std::string(kBegin);
  std::size_t begin = pem.starts_with(kBegin) ? 0 : pem.find(next);
  std::vector<std::string> blocks;
  while (begin != std::string_view::npos) {
    const std::size_t end = pem.find(next, begin + 1);
    std::string_view block = pem.substr(begin, end - begin);
    block.remove_prefix(block.find(kBegin));
    blocks.emplace_back(block);
    begin = end;
  }
  return blocks;
}

// The names that ParseCertificates() accepts, too.
bool IsCertificate(std::string_view block) {
  block.remove_prefix(kBegin.size());
  return block.starts_with("CERTIFICATE-----") || block.starts_with("X509 CERTIFICATE-----");
}

// The result may have no certificate.
Roots ReadBundle(const std::string& pem) {
  Roots roots;
  const std::vector<std::string> blocks = Blocks(pem);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!IsCertificate(blocks[i])) continue;
    auto read = ParseCertificates(blocks[i], "PEM block " + std::to_string(i + 1));
    if (read) {
      roots.certificates.push_back(std::move(read->front()));
    } else {
      roots.skipped.push_back(read.error().message);
    }
  }
  return roots;
}

}  // namespace

base::Result<Roots> ParseRoots(const std::string& pem, std::string_view what) {
  Roots roots = ReadBundle(pem);
  if (!roots.certificates.empty()) return roots;
  const std::string why =
      roots.skipped.empty() ? "no PEM certificate found" : roots.skipped.front();
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = std::string(what) + ": " + why};
}

}  // namespace openssl

std::vector<std::string> UnreadableRoots(const std::string& pem) {
  return openssl::ReadBundle(pem).skipped;
}

}  // namespace http
