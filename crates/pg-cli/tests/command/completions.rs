use crate::command::pg::{pg, words};

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
        "sandbox faults",
        "sandbox faults add",
        "sandbox clock",
        "sandbox cards",
        "sandbox accounts",
        "sandbox callbacks",
        "sandbox batches",
        "sandbox list",
        "sandbox open",
        "trigger",
        "config",
        "config set",
        "completions",
        "man",
    ] {
        words(&format!("{command} --help")).run().ends(0).prints("Examples:").prints(&format!("pg {command}"));
    }
    words("--help").run().ends(0).prints("Exit codes: 0 done, 1 refused or declined, 2 misuse, 3 not reachable");
    words("--version").run().ends(0).prints(env!("CARGO_PKG_VERSION"));
    words("nonsense").run().ends(2);
}

#[test]
fn every_command_gets_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    pg(["man", pages.to_str().unwrap()]).run().ends(0).prints("written");
    let told = pg(["man", pages.to_str().unwrap(), "--json"]).run().ends(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["path"].as_str(), pages.to_str());
    words("completions --help").run().ends(0).prints("completions [OPTIONS] <SHELL>");
    words("completions").run().ends(2).says("<SHELL>");
    for (page, says) in [
        ("pg.1", "update\\-cards"),
        ("pg-call.1", "\\-\\-verbose"),
        ("pg-man.1", "man1"),
        ("pg-sandbox-faults-add.1", "drop\\-reply"),
        ("pg-sandbox-clock.1", "advance 31m"),
        ("pg-trigger.1", "lost\\-reply"),
        ("pg-config-set.1", "apiKey"),
        ("pg-listen.1", "forward\\-to"),
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.starts_with(".ie") && text.contains(says), "{page}: {text}");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    pg(["man", file.to_str().unwrap()]).run().ends(2).says("choose a writable folder");
}

/// What bash offers for a line, asked as readline asks: through the function that `complete` has registered.
fn offered(line: &str) -> Option<Vec<String>> {
    const ASK: &str = r#"
        PATH="$(dirname "$1"):$PATH"
        source /dev/stdin <<< "$(pg completions bash)"
        COMP_LINE="$2" COMP_POINT="${#2}"
        # Words as readline splits them: at blanks, and = is a word.
        read -ra COMP_WORDS <<< "${2//=/ = }"
        [[ $2 == *[[:space:]] ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        current="${COMP_WORDS[COMP_CWORD]}"
        [[ $current == = ]] && current=
        handler="$(complete -p pg | sed 's/.*-F \([^ ]*\).*/\1/')"
        "$handler" pg "$current" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let shell =
        std::process::Command::new("bash").args(["--norc", "-c", ASK, "bash", env!("CARGO_BIN_EXE_pg"), line]).output();
    let Ok(output) = shell else {
        pg_support::left_out("bash is not installed: what it completes");
        return None;
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_methods_parameters_and_values() {
    for (line, wanted) in [
        ("pg call token/loo", &["token/lookup"][..]),
        ("pg methods transaction/capture", &["transaction/capturepreauth"]),
        ("pg call token/lookup card", &["cardKey="]),
        ("pg call token/lookup cardKey=1 ", &["merchantCustomerReference="]),
        // bash replaces the text after the =.
        ("pg call enterprise/repeat trans_type=", &["Auth", "PreAuth"]),
        ("pg call enterprise/repeat trans_type=P", &["PreAuth"]),
        // What clap completes is still there.
        ("pg trigger updater", &["updater-batch"]),
        ("pg sandbox faults add transaction/auth dup", &["duplicate"]),
        ("pg config set x enterpriseB", &["enterpriseBaseUrl="]),
        ("pg call --dry", &["--dry-run"]),
        ("pg sandbox call", &["callbacks"]),
        ("pg compl", &["completions"]),
    ] {
        let Some(offered) = offered(line) else { return };
        assert_eq!(offered, wanted, "{line}");
    }
    let Some(tokens) = offered("pg call tok") else { return };
    assert!(tokens.len() > 5 && tokens.iter().all(|path| path.starts_with("token/")), "{tokens:?}");
}

#[test]
fn zsh_and_fish_ask_for_methods_too() {
    let zsh = words("completions zsh").run().ends(0).out;
    let ours = [":method -- ", ":parameters -- ", ":profile -- ", ":settings -- ", "'--profile=["];
    for sign in ours {
        let mut lines = zsh.lines().filter(|line| line.contains(sign)).peekable();
        assert!(lines.peek().is_some() && lines.all(|line| line.contains(":_pg_candidates' ")), "{sign}");
    }
    let (before, after) = zsh.split_once("\n_pg_candidates() {").unwrap();
    assert!(before.contains("_pg() {") && after.contains("compdef _pg pg"));
    let fish = words("completions fish").run().ends(0).prints("pg completions -- (commandline -cp");
    fish.prints("sandbox trigger config");
    let profiles = "[staging]\nbaseUrl = \"https://gateway.example\"\n[live]\n";
    for line in ["pg call token/lookup --profile sta", "pg config show sta"] {
        let offered = pg(["completions", "--", line]).profiles(profiles).run().ends(0);
        assert_eq!(offered.out, "staging\thttps://gateway.example\n", "{line}");
    }
    words("completions").run().ends(2);
}
