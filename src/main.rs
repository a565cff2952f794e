//! The `spadkit` command.

fn main() -> std::process::ExitCode {
    spadkit::cli::main()
}
