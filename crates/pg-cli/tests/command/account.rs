//! Flags before environment before profile, and what secrets are worth.

use crate::command::pg::{CANARIES, pg, words, write_private};

const CALL: &str = "call token/lookup cardKey=4F2C-91 --dry-run";

const PROFILES: &str = r#"
[default]
baseUrl = "https://default.example"
apiKey = "k"
apiPassword = "p"
shaKey = "s"

[staging]
baseUrl = "https://staging.example/api"
"#;

// spec: 1 §1: The live and the test environment differ in address and credentials only.
#[test]
fn flags_win_over_environment_over_profile() {
    let target =
        |run: crate::command::pg::Pg| run.profiles(PROFILES).run().ends(0).out.lines().next().unwrap().to_owned();
    assert_eq!(target(words(CALL)), "POST https://default.example/v3/token/lookup/json");
    assert_eq!(
        target(words(&format!("{CALL} --profile staging"))),
        "POST https://staging.example/api/v3/token/lookup/json"
    );
    assert_eq!(
        target(words(CALL).env("PG_PROFILE", "staging")),
        "POST https://staging.example/api/v3/token/lookup/json"
    );
    let environment = words(CALL).env("PG_BASE_URL", "https://environment.example");
    assert_eq!(target(environment), "POST https://environment.example/v3/token/lookup/json");
    let flag =
        words(&format!("{CALL} --base-url https://flag.example/")).env("PG_BASE_URL", "https://environment.example");
    assert_eq!(target(flag), "POST https://flag.example/v3/token/lookup/json");
}

#[test]
fn an_environment_that_overrides_a_named_profile_is_reported() {
    words(&format!("{CALL} --profile staging"))
        .profiles(PROFILES)
        .env("PG_BASE_URL", "https://environment.example")
        .run()
        .ends(0)
        .says("the environment variable PG_BASE_URL overrides baseUrl of the profile staging");
}

#[test]
fn secrets_in_flags_are_warned_of() {
    for flag in ["--api-key", "--api-password", "--sha-key"] {
        words(&format!("{CALL} {flag} canary")).run().ends(0).says(&format!("warning: {flag}")).hides(&["canary"]);
    }
    let ended = words(&format!("{CALL} --base-url https://gateway.example")).run().ends(0);
    assert!(!ended.err.contains("warning"), "{}", ended.err);
}

#[test]
fn errors_of_profiles_name_file_and_place() {
    words(CALL)
        .profiles("[default]\napiKey = \"canary\"\nshakey = 1\n")
        .run()
        .ends(2)
        .says("profiles.toml, line 3")
        .hides(&["canary"]);
    words(&format!("{CALL} --profile stagin"))
        .profiles(PROFILES)
        .run()
        .ends(2)
        .says("no profile \"stagin\"; did you mean staging?");
    words(&format!("{CALL} --profile x")).run().ends(2).says("profiles.toml").says("--profile-file");
    words(&format!("{CALL} --profile-file none.toml")).run().ends(2).says("cannot read the profile file none.toml");
}

#[test]
#[cfg(unix)]
fn a_world_readable_profile_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    write_private(&path, PROFILES);
    let run = || pg(CALL.split(' ')).env("PG_PROFILE_FILE", path.to_str().unwrap()).run();
    run().ends(0).prints("https://default.example");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    run().ends(0).says("warning: the profile file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    run().ends(2).says("chmod 600");
}

#[test]
fn missing_account_variables_are_named_together() {
    words("call token/lookup cardKey=a").run().ends(2).says("PG_BASE_URL, PG_API_KEY, PG_API_PASSWORD, PG_SHA_KEY");
    words("call enterprise/address property_name=7 postcode=X")
        .env("PG_BASE_URL", "https://gateway.example")
        .run()
        .ends(2)
        .says("PG_ENTERPRISE_BASE_URL, PG_ENTERPRISE_API_KEY, PG_ENTERPRISE_API_PASSWORD");
    words("call token/lookup cardKey=a --profile staging")
        .profiles("[staging]\nbaseUrl = \"https://staging.example\"\napiKey = \"k\"\n")
        .run()
        .ends(2)
        .says("the account lacks apiPassword, shaKey: set PG_API_PASSWORD, PG_SHA_KEY in the environment, or apiPassword, shaKey")
        .says("in the profile staging of ");
}

#[test]
fn invalid_or_insecure_addresses_are_misuse() {
    let base =
        |base: &str| words("call token/lookup cardKey=a").account("https://x.example").env("PG_BASE_URL", base).run();
    base("gateway.example").ends(2).says("PG_BASE_URL or --base-url");
    base("http://gateway.example").ends(2).says("https");
    base("https://user:canary@gateway.example").ends(2).hides(&["canary"]);
    assert_eq!(CANARIES.len(), 6);
}

#[test]
#[cfg(unix)]
fn an_invalid_profile_file_is_named_without_advice_about_permissions() {
    let folder = tempfile::tempdir().unwrap();
    for place in [folder.path().to_str().unwrap(), "/dev/zero"] {
        let ended =
            pg(CALL.split(' ')).env("PG_PROFILE_FILE", place).run().ends(2).says(place).says("not a regular file");
        assert!(!ended.err.contains("chmod"), "{}", ended.err);
    }
    let path = folder.path().join("long.toml");
    write_private(&path, &"# long\n".repeat(200_000));
    pg(CALL.split(' ')).env("PG_PROFILE_FILE", path.to_str().unwrap()).run().ends(2).says("longer than 1 MiB");
}

#[test]
#[cfg(unix)]
fn a_non_unicode_variable_is_an_error() {
    for name in ["PG_API_KEY", "PG_PROFILE"] {
        words(CALL)
            .account("https://gateway.example")
            .env_bytes(name, b"\xff\xfe")
            .run()
            .ends(2)
            .says(name)
            .says("UTF-8");
    }
}

#[test]
fn blanks_around_a_secret_are_told() {
    for odd in ["canary ", " canary", "canary\r", "canary\n"] {
        words(CALL)
            .account("https://gateway.example")
            .env("PG_SHA_KEY", odd)
            .run()
            .ends(0)
            .says("warning: PG_SHA_KEY begins or ends with white space")
            .hides(&["canary"]);
    }
    words(&format!("{CALL} --profile staging"))
        .profiles(&PROFILES.replace("[staging]", "[staging]\napiKey = \"canary\\n\""))
        .run()
        .ends(0)
        .says("apiKey begins or ends with white space");
}
