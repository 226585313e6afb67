//! The `blackbar` binary: parses the command line, calls a command, sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    blackbar::cli::main()
}
