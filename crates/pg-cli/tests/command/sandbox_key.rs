//! The keys of stores, given to `pg sandbox` as operators give them: by file, variable and command.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use pg_stores::Postgres;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{
    pg::{Ended, Pg, pg, write_private},
    sandbox::{CARD, Running},
};

const OLD: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const NEW: &str = "0202020202020202020202020202020202020202020202020202020202020202";
const OTHER: &str = "0303030303030303030303030303030303030303030303030303030303030303";

/// A store and the files of keys.
struct Keys {
    folder: TempDir,
    url: String,
}

impl Keys {
    fn of(url: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, key) in [("old.key", OLD), ("new.key", NEW), ("other.key", OTHER)] {
            write_private(&folder.path().join(name), key);
        }
        Self { folder, url }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `pg sandbox` over the store, with flags whose names of files are those of this folder.
    fn sandbox(&self, flags: &str) -> Pg {
        let mut command = pg(["sandbox", "--listen", "127.0.0.1:0", "--json", "--store", &self.url]);
        for flag in flags.split_whitespace() {
            let file = self.file(flag);
            let given = if flag.ends_with(".key") { file.to_str().unwrap() } else { flag };
            command = command.arg(given);
        }
        command
    }

    fn start(&self, flags: &str) -> Running {
        Running::of(self.sandbox(flags))
    }

    /// A start that fails with one line, which shows no key.
    #[track_caller]
    fn refused(&self, flags: &str, says: &str) {
        refused(self.sandbox(flags), says);
    }
}

#[track_caller]
fn refused(command: Pg, says: &str) {
    let ended = command.run().ends(2).says(says).hides(&[OLD, NEW, OTHER]);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
}

fn pay(sandbox: &Running, order: &str) -> Ended {
    sandbox.run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} uniqueMerchantReference={order}"))
}

/// Pays, and gives the identifier of the card that was paid with, which depends on the first key of the store.
#[track_caller]
fn paid(sandbox: &Running, order: &str) -> String {
    let paid: Value = serde_json::from_str(&pay(sandbox, order).ends(0).out).unwrap();
    let key = paid["transactionKey"].as_str().unwrap();
    let made = sandbox.run(&format!("call token/tokeniseTransactionKey transactionKey={key}")).ends(0).out;
    let made: Value = serde_json::from_str(&made).unwrap();
    made.pointer("/cardKeyDetails/0/cardUniqueIdentifier").unwrap_or_else(|| panic!("{made}")).to_string()
}

/// The references are used up: the records are readable, and digests are what they were.
#[track_caller]
fn knows(sandbox: &Running, orders: &[&str]) {
    for order in orders {
        pay(sandbox, order).ends(4).says("refused: 950");
        sandbox.run(&format!("call transaction/lookup uniqueMerchantReference={order}")).ends(0).prints(order);
    }
}

#[test]
fn the_key_of_a_shared_store_is_changed_by_restarts_alone() {
    let Some(server) = Postgres::for_tests() else { return };
    let keys = Keys::of(server.database().unwrap());
    let first = keys.start("--store-key old.key");
    let card = paid(&first, "order-1");
    keys.refused("--store-key other.key", "sealed with another key");

    // The processes get both keys in turn; those that have only the old one keep working.
    let second = keys.start("--store-key old.key --store-key-older new.key");
    assert_eq!(paid(&second, "order-2"), card);
    assert_eq!(paid(&first, "order-3"), card);
    first.stopped().ends(0);
    let first = keys.start("--store-key old.key --store-key-older new.key");
    knows(&first, &["order-1", "order-2", "order-3"]);

    // The new key comes first in one of them, and both seal with it.
    second.stopped().ends(0);
    let second = keys.start("--store-key new.key --store-key-older old.key");
    assert_eq!(paid(&second, "order-4"), card);
    assert_eq!(paid(&first, "order-5"), card);
    knows(&first, &["order-1", "order-4"]);
    knows(&second, &["order-1", "order-5"]);
    for flags in ["--store-key old.key", "--store-key new.key"] {
        keys.refused(flags, "also holds records under another key");
    }
    keys.refused("--store-key other.key --store-key-older old.key", "also holds records under another key");
    keys.refused("--store-key other.key", "sealed with another key");
    keys.refused(
        "--store-key new.key --store-key-older gone.key",
        "gone.key is missing; name the file of an older key",
    );

    // One process seals everything with the new key while the others work. The old one opens nothing then.
    let third = keys.start("--store-key new.key --store-key-older old.key --reseal");
    knows(&third, &["order-1", "order-2", "order-3", "order-4", "order-5"]);
    assert_eq!(paid(&first, "order-6"), card);
    for flags in ["--store-key old.key", "--store-key old.key --store-key-older new.key"] {
        keys.refused(flags, "this key was retired");
    }
    first.stopped().ends(0);
    second.stopped().ends(0);
    third.stopped().ends(0);
    std::fs::remove_file(keys.file("old.key")).unwrap();
    let last = keys.start("--store-key new.key");
    knows(&last, &["order-1", "order-2", "order-3", "order-4", "order-5", "order-6"]);
    assert_eq!(paid(&last, "order-7"), card);
}

#[test]
fn keys_come_from_variables_and_from_the_output_of_commands() {
    let Some(server) = Postgres::for_tests() else { return };
    let keys = Keys::of(server.database().unwrap());
    let plain = || keys.sandbox("");
    refused(plain(), "a PostgreSQL store needs a key");
    for (name, value, says) in [
        ("PG_STORE_KEY", "0101", "PG_STORE_KEY is not 64 hexadecimal digits"),
        ("PG_STORE_KEY_COMMAND", "echo 0101", "PG_STORE_KEY_COMMAND is not 64 hexadecimal digits"),
        ("PG_STORE_KEY_COMMAND", "exit 3", "PG_STORE_KEY_COMMAND: the command failed"),
        ("PG_STORE_KEY_OLDER", "0101", "PG_STORE_KEY_OLDER is not 64 hexadecimal digits"),
        ("PG_STORE_KEY_OLDER_COMMAND", "echo 0101", "PG_STORE_KEY_OLDER_COMMAND is not 64 hexadecimal digits"),
        ("PG_STORE_KEY_OLDER_COMMAND", "exit 3", "PG_STORE_KEY_OLDER_COMMAND: the command failed"),
    ] {
        let command = if name.contains("OLDER") { plain().env("PG_STORE_KEY", OLD) } else { plain() };
        refused(command.env(name, value), says);
    }
    // None of these attempts has created a store with a wrong key.
    let first = Running::of(plain().env("PG_STORE_KEY", OLD));
    let card = paid(&first, "order-1");
    first.stopped().ends(0);

    let print = |key: &str| format!("echo {key}");
    let by_command = Running::of(plain().env("PG_STORE_KEY_COMMAND", &print(OLD)));
    knows(&by_command, &["order-1"]);
    by_command.stopped().ends(0);
    let older = format!("{OTHER}\n {OLD}\n");
    let second = Running::of(plain().env("PG_STORE_KEY", NEW).env("PG_STORE_KEY_OLDER", &older));
    assert_eq!(paid(&second, "order-2"), card);
    second.stopped().ends(0);
    refused(plain().env("PG_STORE_KEY", NEW), "also holds records under another key");
    refused(plain().env("PG_STORE_KEY", NEW).env("PG_STORE_KEY_OLDER", OTHER), "also holds records under another key");
    // The flag goes before the variable, which goes before the command.
    let third = keys.sandbox("--store-key new.key --reseal").env("PG_STORE_KEY", OTHER);
    let third = third.env("PG_STORE_KEY_COMMAND", "exit 3").env("PG_STORE_KEY_OLDER_COMMAND", &print(OLD));
    let third = Running::of(third);
    knows(&third, &["order-1", "order-2"]);
    third.stopped().ends(0);
    let last = Running::of(plain().env("PG_STORE_KEY", NEW));
    assert_eq!(paid(&last, "order-3"), card);
    last.stopped().ends(0);
    refused(plain().env("PG_STORE_KEY", OLD), "this key was retired");
}

#[test]
fn no_key_file_is_made_for_a_store_that_has_a_key() {
    let Some(server) = Postgres::for_tests() else { return };
    let keys = Keys::of(server.database().unwrap());
    let made = keys.start("--store-key made.key");
    paid(&made, "order-1");
    made.stopped().ends(0);
    assert!(is_private(&keys.file("made.key")));
    keys.refused("--store-key missing.key", "missing.key is missing, but the store");
    assert!(!keys.file("missing.key").exists());
    write_private(&keys.file("damaged.key"), "no key");
    keys.refused("--store-key damaged.key", "64 hexadecimal digits");
    keys.refused("--store-key made.key --store-key-older damaged.key", "64 hexadecimal digits");
    knows(&keys.start("--store-key made.key"), &["order-1"]);
}

fn is_private(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::metadata(file).unwrap().permissions().mode() & 0o077 == 0
}

#[test]
fn a_store_file_has_its_own_key_file_and_takes_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let keys = Keys::of(store.to_str().unwrap().to_owned());
    let first = keys.start("");
    paid(&first, "order-1");
    first.stopped().ends(0);
    let before = std::fs::read(&store).unwrap();
    for flags in ["--store-key new.key", "--store-key-older old.key", "--reseal"] {
        keys.refused(flags, "are for PostgreSQL stores only");
    }
    let own = folder.path().join("shop.sqlite.key");
    let right = std::fs::read_to_string(&own).unwrap();
    write_private(&own, OTHER);
    keys.refused("", "restore the key file with which the store's cards were sealed");
    assert!(std::fs::read(&store).unwrap() == before, "the store was changed");
    // Keys in variables are for shared stores; they do not replace the file.
    let with_variable = keys.sandbox("").env("PG_STORE_KEY", right.split_whitespace().next().unwrap());
    refused(with_variable, "restore the key file with which");
    write_private(&own, &right);
    knows(&keys.start(""), &["order-1"]);
}

#[test]
fn a_sandbox_that_waits_for_its_database_can_be_interrupted() {
    // It accepts a connection, and never answers.
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let keys = Keys::of(format!("postgres://pg@{}/pg", database.local_addr().unwrap()));
    let waiting = keys.sandbox("--store-key old.key").start();
    let _connection = database.accept().unwrap();
    assert!(Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap().success());
    waiting.ended().ends(3).says("interrupted while the store was opened");
}

#[test]
fn a_database_that_cannot_be_reached_is_no_misuse() {
    let keys = Keys::of("postgres://pg@127.0.0.1:1/pg".to_owned());
    keys.sandbox("--store-key old.key").run().ends(3).says("cannot reach the database");
}
