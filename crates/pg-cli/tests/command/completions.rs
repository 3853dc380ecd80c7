use crate::pg::words;

#[test]
fn every_shell_gets_a_script() {
    for (shell, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef pg"),
        ("fish", "complete -c pg"),
        ("powershell", "pg"),
        ("elvish", "pg"),
    ] {
        let ended = words(&format!("completions {shell}")).run().ends(0).prints(sign);
        assert_eq!(ended.err, "");
    }
    words("completions tcsh").run().ends(2);
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [
        "demo",
        "call",
        "methods",
        "sign",
        "verify",
        "explain",
        "decrypt",
        "update-cards",
        "listen",
        "sandbox",
        "completions",
    ] {
        words(&format!("{command} --help")).run().ends(0).prints("Examples:").prints(&format!("pg {command}"));
    }
    words("--help").run().ends(0).prints("Exit codes: 0 done, 1 refused or declined, 2 misuse, 3 not reachable");
    words("--version").run().ends(0).prints(env!("CARGO_PKG_VERSION"));
    words("nonsense").run().ends(2);
}
