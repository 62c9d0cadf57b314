// quota-controller-manager: counts what each namespace uses and writes it to the quota's /status.
//
// Exit codes: 0 after a clean stop; 1 after a failure, a lost lease, or a second signal; 2 if the
// start can never work (a wrong flag, an unreadable kubeconfig).

#include <glog/logging.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>

#include "cmd/quota-controller-manager/break_glass.h"
#include "cmd/quota-controller-manager/descriptors.h"
#include "cmd/quota-controller-manager/event_loop.h"
#include "cmd/quota-controller-manager/flags.h"
#include "cmd/quota-controller-manager/manager.h"
#include "cmd/quota-controller-manager/uninstall.h"
#include "pkg/logging/log.h"

namespace {

int Refuse(const base::Error& error) {
  logging::PrintFatalError("quota-controller-manager", error.message);
  return error.Is(base::ErrorCode::kInvalidArgument) ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  logging::Start(argv[0]);
  const auto options = manager::ParseFlags(argc, argv);
  // Set before the check below, so that errors of other flags have the requested format.
  logging::SetFormat(manager::LoggingFormat());
  if (!options) return Refuse(options.error());
  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is only an error of that write
  manager::RaiseDescriptorLimit();

  boost::asio::io_context io{1};
  if (options->uninstall || options->break_glass) {
    const auto done =
        options->uninstall ? manager::Uninstall(io, *options) : manager::BreakGlass(io, *options);
    return done ? 0 : Refuse(done.error());
  }
  auto daemon = manager::NewManager(io, *options);
  if (!daemon) return Refuse(daemon.error());
  (*daemon)->Start();
  manager::RunLoop(
      io, [&](base::Duration held) { (*daemon)->OnLoopHeld(held); },
      [&] { return (*daemon)->ended(); });
  LOG(INFO) << "stopped";
  const int code = (*daemon)->exit_code();
  // The io_context's destructor would wait for a look-up that may not end for a minute.
  if (!io.stopped()) _exit(code);
  return code;
}
