#pragma once
// cli/failure.h: how a command ends: its exit code, and the one error that stopped it.
//
// Place    every command → [failure] → command_line, which prints it.
// Errors   a Failure is thrown by commands; ClientError of the library becomes one by failure_of().
// Source   spec/errors.json (numbers, hints, exit codes of the broker's errors).

#include <stdexcept>
#include <string>

#include "sluice/error.h"

namespace sluice::cli {

enum class Exit : int {
  done = 0,
  failed = 1,
  usage = 2,
  partly = 3,
  not_found = 4,
  unreachable = 5,
  denied = 6,
  empty = 7,
};

// The command's own error numbers; below them are the broker's (to 999) and the library's (from 1000).
inline constexpr int kErrorUsage = 2000;             // "usage"
inline constexpr int kErrorNotInThisVersion = 2001;  // "not_in_this_version"
inline constexpr int kErrorInputOutput = 2002;       // "input_output": a file, stdin or stdout
inline constexpr int kErrorEmpty = 2003;             // "empty": there was no message
inline constexpr int kErrorNotConfirmed = 2004;      // "not_confirmed": the user said no
inline constexpr int kErrorBench = 2005;             // "bench": the run did not come out as it must
inline constexpr int kErrorUnknownSession = 2006;    // "unknown_session"
inline constexpr int kErrorNotBound = 2007;          // "not_bound"
inline constexpr int kErrorNoJournal = 2008;         // "no_journal"
inline constexpr int kErrorJournalDamaged = 2009;    // "journal_damaged"
inline constexpr int kErrorJournalInUse = 2010;      // "journal_in_use"

class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, int code, std::string name, const std::string& message, std::string hint = {})
      : std::runtime_error(message), exit_(exit), code_(code), name_(std::move(name)), hint_(std::move(hint)) {}

  Exit exit() const { return exit_; }
  int code() const { return code_; }
  const std::string& name() const { return name_; }
  const std::string& hint() const { return hint_; }

 private:
  Exit exit_;
  int code_;
  std::string name_;
  std::string hint_;
};

Failure usage_failure(const std::string& message, std::string hint = {});
Failure input_output_failure(const std::string& message, std::string hint = {});
Failure empty_failure(const std::string& message);
Failure later_failure(const std::string& what);

Failure failure_of(const ClientError& error);
// The exit code that the error table gives this error.
Exit exit_of(const ClientError& error);

}  // namespace sluice::cli
