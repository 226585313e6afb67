//! The command line: one file per subcommand.

use std::process::ExitCode;

/// Parses the command line and calls a command.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
