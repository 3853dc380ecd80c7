//! `pg config`: profiles are written, shown and checked, and no secret is printed.

use std::path::Path;

use serde_json::Value;

use crate::command::{
    pg::{CANARIES, Ended, Pg, pg, words, write_private},
    sandbox::Running,
};

const SECRET: &str = "canary0secret000000000000000000a";

fn config(file: &Path, command: &str) -> Pg {
    words(&format!("config {command}")).env("PG_PROFILE_FILE", file.to_str().unwrap())
}

fn run(file: &Path, command: &str) -> Ended {
    config(file, command).run().hides(&["canary"])
}

/// The file of a dialect is named as it is seen from the current folder.
#[test]
fn a_dialect_file_of_a_profile_is_found_from_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profiles.toml");
    std::fs::write(folder.path().join("operator.toml"), "name = \"own\"\n").unwrap();
    let set = |settings: &str| config(&file, &format!("set st {settings}")).within(folder.path()).run().ends(0);
    set("dialect=operator.toml baseUrl=https://gateway.example");
    let show = config(&file, "show st").run().ends(0);
    show.prints(folder.path().join("operator.toml").to_str().unwrap());
    run(&file, "check st").prints("lacks apiKey");
    set("dialect=sandbox");
    assert!(std::fs::read_to_string(&file).unwrap().contains("dialect = \"sandbox\""));
}

/// A script that provisions several accounts at once.
#[test]
#[cfg(unix)]
fn settings_that_are_written_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/profiles.toml");
    let start = |at| config(&file, &format!("set p{at} baseUrl=https://gateway.example")).start();
    let running: Vec<_> = (0..12).map(start).collect();
    running.into_iter().for_each(|child| drop(child.ended().ends(0)));
    let text = std::fs::read_to_string(&file).unwrap();
    (0..12).for_each(|at| assert!(text.contains(&format!("[p{at}]")), "{at}: {text}"));
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_profile_is_made_filled_shown_checked_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/er/profiles.toml");
    run(&file, "check").ends(2).says("does not exist; add a profile with `pg config new PROFILE`");
    run(&file, "show").ends(0).prints("(not set)").says("no profiles in");
    run(&file, "new staging").ends(0).prints("profile staging added to");
    run(&file, "new staging").ends(2).says("exists already");
    assert_eq!(run(&file, "path").ends(0).out, format!("{}\n", file.display()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }
    run(&file, "set staging baseUrl=https://gateway.example dialect=sandbox").ends(0);
    config(&file, "set staging apiKey=-").input(&format!("{SECRET}\n")).run().ends(0).hides(&["canary"]);
    run(&file, "check").ends(2).prints("profile staging lacks apiPassword, shaKey");
    let secret = folder.path().join("secret");
    write_private(&secret, SECRET);
    run(&file, &format!("set staging apiPassword=@{}", secret.display())).ends(0);
    // It works, and says that it is seen.
    run(&file, &format!("set staging shaKey={SECRET}")).ends(0).says("warning: shaKey on the command line is visible");
    run(&file, "check").ends(0).prints("staging: ok");
    run(&file, "check --profile staging").ends(0).prints("staging: ok");
    run(&file, "show --profile staging").ends(0).prints("https://gateway.example");
    run(&file, "show --profile stagin").ends(2);
    run(&file, "show staging").ends(0).prints("apiKey").prints("***").prints("https://gateway.example");
    let shown: Value = serde_json::from_str(&run(&file, "show staging --json").ends(0).out).unwrap();
    assert_eq!(shown["settings"][2]["set"], true);
    assert_eq!((&shown["settings"][2]["value"], &shown["profiles"][0]), (&Value::Null, &"staging".into()));
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(SECRET).count(), 3, "{text}");
    let call = pg([
        "call",
        "token/lookup",
        "cardKey=a",
        "--dry-run",
        "--profile",
        "staging",
        "--profile-file",
        file.to_str().unwrap(),
    ]);
    call.run().ends(0).prints("https://gateway.example/v3/token/lookup").hides(&["canary"]);
    run(&file, "set staging dialect=").ends(0);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("\ndialect"));
}

#[test]
fn an_empty_source_does_not_remove_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let (file, empty) = (folder.path().join("profiles.toml"), folder.path().join("empty"));
    let text = format!("[a]\napiKey = \"{SECRET}\"\n");
    write_private(&file, &text);
    write_private(&empty, "\n");
    config(&file, "set a apiKey=-")
        .run()
        .ends(2)
        .says("apiKey: standard input is empty; write apiKey= for an empty value");
    config(&file, &format!("set a apiKey=@{}", empty.display())).run().ends(2).says("empty\" is empty");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    run(&file, "set a apiKey=").ends(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[a]\n");
}

#[test]
fn effective_settings_are_shown_with_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profiles.toml");
    write_private(&file, "[default]\nbaseUrl = \"https://file.example\"\ndialect = \"terse\"\n");
    let shown = CANARIES.iter().fold(config(&file, "show"), |pg, (name, value)| pg.env(name, value));
    let shown =
        shown.env("PG_BASE_URL", "https://environment.example").run().ends(0).hides(&["canary", "file.example"]);
    shown.prints("PG_BASE_URL").prints("profile default").prints("PG_SHA_KEY").says("profiles in");
    // A profile that is asked for is shown as it is.
    let shown = config(&file, "show default").env("PG_BASE_URL", "https://environment.example").run().ends(0);
    shown.prints("https://file.example");
    // Whatever is in the wrong place.
    let misplaced =
        "[default]\nbaseUrl = \"https://u:canary@file.example\"\nenterpriseBaseUrl = \"4929000000000014\"\n";
    write_private(&file, misplaced);
    for command in ["show", "show --json", "check", "check --json"] {
        let ended = run(&file, command).hides(&["4929000000000014"]);
        let ended =
            ended.prints(if command.starts_with("show") { "https://***@file.example" } else { "contains credentials" });
        ended.prints("492900******0014");
    }
    run(&file, "show defualt").ends(2).says("did you mean default?");
    config(&file, "show").env("PG_PROFILE", "none").run().ends(2).says("add it with `pg config new none`");
}

#[test]
fn settings_are_shown_without_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profiles.toml");
    let shown: Value = serde_json::from_str(&run(&file, "show --json").ends(0).out).unwrap();
    assert_eq!((&shown["profile"], &shown["profiles"]), (&Value::Null, &serde_json::json!([])));
    // Without a home, the environment can have everything.
    let homeless =
        |command: &str| words(command).account("https://a.example").env("HOME", "").env("XDG_CONFIG_HOME", "");
    homeless("config show").run().ends(0).prints("https://a.example").says("no profile file: HOME is not set");
    homeless("config show staging").run().ends(2).says("set HOME or use --profile-file FILE");
}

#[test]
fn invalid_entries_are_reported_with_their_place_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profiles.toml");
    let wrong = "[a]\nbaseUrl = \"http://gateway.example\"\napikey = \"canary\"\nshaKey = canary\n";
    write_private(&file, wrong);
    run(&file, "check").ends(2).prints("line 4, column 10");
    write_private(&file, &wrong.replace("= canary\n", "= 5\n"));
    let ended = run(&file, "check").ends(2);
    ended.prints("line 3, column 1: unknown setting; did you mean apiKey?").prints("line 4, column 10: shaKey must be");
    run(&file, "set a dialect=terse").ends(2).says("line 3, column 1");
    let ended = run(&file, "check --json").ends(2).says("line 3, column 1");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&document["exit"], &document["problems"].as_array().unwrap().len()), (&2.into(), &2));
    assert!(document["error"]["message"].as_str().unwrap().contains("line 4, column 10"), "{document}");
    write_private(&file, "[a]\nbaseUrl = \"http://gateway.example\"\napiKey = \" canary\"\ndialect = \"none.toml\"\n");
    let ended = run(&file, "check a").ends(2).prints("line 2, column 11: baseUrl is invalid: plain HTTP");
    ended
        .prints("line 3, column 10: apiKey begins or ends with white space")
        .prints("line 4, column 11: the dialect none.toml");
    for (command, says) in [
        ("set a apikey=x", "unknown setting apikey; did you mean apiKey?"),
        ("set a baseUrl=gateway", "baseUrl is invalid"),
        ("set a baseUrl=https://u:canary@gateway.example", "contains credentials"),
        ("set a baseUrl", "parameter 1 is not of the form name=value"),
        ("set baseUrl=https://gateway.example dialect=terse", "invalid profile name"),
        ("check b", "no profile \"b\""),
        ("sohw", "similar subcommand exists: 'show'"),
    ] {
        run(&file, command).ends(2).says(says);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        write_private(&file, "[a]\n");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        run(&file, "check").ends(2).prints("is readable or writable by every user");
        // Writing makes it private again.
        run(&file, "set a dialect=terse").ends(0);
        run(&file, "check").ends(0);
    }
}

/// A device or a pipe would be gone for every program. A pipe stands for both: a test that fails must replace no device.
#[test]
#[cfg(unix)]
fn only_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [pipe, link] = ["pipe", "link"].map(|name| folder.path().join(name));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("missing", &link).unwrap();
    for command in ["set a dialect=sandbox", "new a"] {
        run(&pipe, command).ends(2).says("is not a regular file");
        run(&link, command).ends(2).says("is a link to a missing file");
    }
    let kind = |path: &Path| std::fs::symlink_metadata(path).unwrap().file_type();
    assert!(kind(&link).is_symlink() && !kind(&pipe).is_file());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_profile_is_taken_from_a_running_sandbox() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profiles.toml");
    let new = |command: &str| config(&file, &format!("{command} --sandbox {base}")).run();
    new("new local --from-sandbox").ends(0).hides(&["MainSandbox"]);
    new("new other --from-sandbox --account othr").ends(2).says("did you mean other?");
    new("new strict --from-sandbox --account strict").ends(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap().matches("\naccountUpdaterKey = ").count(), 1);
    run(&file, "check").ends(0);
    let call = pg([
        "call",
        "token/lookup",
        "merchantCustomerReference=a",
        "--profile",
        "local",
        "--profile-file",
        file.to_str().unwrap(),
    ]);
    call.run().ends(0);
}
