//! The command that `pg call` prints after a lost reply, run by a shell exactly as printed.

use pg_support::installed;

use crate::command::{
    pg::{Ended, Pg, pg, words},
    sandbox::{CARD, Running},
};

/// A payment whose reply is lost. Its reference is in a file.
fn lose(sandbox: &Running, reference: &str, as_account: impl FnOnce(&Running, Pg) -> Pg) -> Ended {
    let at = sandbox.facts["baseUrl"].as_str().unwrap();
    words("sandbox faults add transaction/auth drop-reply --sandbox").arg(at).run().ends(0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reference");
    std::fs::write(&file, format!("{reference}\n")).unwrap();
    let pay = words(&format!("call transaction/auth cardNumber=4000000000001000 {CARD}"))
        .arg(&format!("uniqueMerchantReference=@{}", file.display()));
    as_account(sandbox, pay).run().ends(4)
}

fn main_account(sandbox: &Running, pg: Pg) -> Pg {
    sandbox.with_account(pg, "main")
}

fn printed(ended: &Ended) -> String {
    ended.err.lines().last().unwrap().trim().to_owned()
}

/// Runs a printed command in a shell whose environment has an account.
fn follow(sandbox: &Running, command: &str, account: &str) -> Ended {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_pg")).parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    sandbox.with_account(pg([""; 0]), account).env("PATH", &path).under("bash", &["-c", command]).run()
}

// spec: 2 §4.4
#[test]
fn the_lookup_finds_the_payment_whatever_its_reference() {
    if !installed(&["bash"], "printed commands are not run") {
        return;
    }
    let sandbox = Running::start(&[]);
    for reference in ["order-7", "@home.txt", "@@x", "-", "--json", "it's $HOME", "a\u{200b}b'c", "\u{202e}é"] {
        let ended = lose(&sandbox, reference, main_account).says("a lookup that finds nothing proves nothing yet");
        follow(&sandbox, &printed(&ended), "main").ends(0).prints("\"transactionStatusCode\": \"600\"");
    }
}

/// The environment names another account: there the lookup would find nothing.
#[test]
fn the_lookup_does_not_run_under_another_account() {
    let sandbox = Running::start(&[]);
    let merchants = sandbox.facts["merchants"].as_array().unwrap();
    let main = merchants.iter().find(|merchant| merchant["name"] == "main").unwrap();
    let secrets = ["apiKey", "apiPassword", "shaKey"].map(|member| main[member].as_str().unwrap());
    let flags = ["--api-key", "--api-password", "--sha-key"];
    let flagged = |sandbox: &Running, pg: Pg| {
        let pg = flags.iter().zip(secrets).fold(pg, |pg, (flag, secret)| pg.arg(flag).arg(secret));
        sandbox.with_account(pg, "other")
    };
    let command = printed(&lose(&sandbox, "flagged-1", flagged).hides(&secrets));
    let placeholder = "'(placeholder)'";
    for flag in flags {
        assert!(command.contains(&format!("{flag} {placeholder}")), "{command}");
    }
    if !installed(&["bash"], "printed commands are not run") {
        return;
    }
    follow(&sandbox, &command, "other").ends(2).says("replace (placeholder) after --api-key").says("nothing was sent");
    let command = secrets.iter().fold(command, |command, secret| command.replacen(placeholder, secret, 1));
    follow(&sandbox, &command, "other").ends(0).prints("flagged-1").prints("\"600\"");
}

// spec: 2 §4.4, A140
#[test]
fn an_empty_lookup_says_that_it_proves_nothing_yet() {
    let sandbox = Running::start(&[]);
    let ended = sandbox.run("call transaction/lookup uniqueMerchantReference=late-1 --json").ends(0);
    assert_eq!(ended.out, "{\"transactions\":{}}\n");
    ended.says("proves nothing yet");
}
