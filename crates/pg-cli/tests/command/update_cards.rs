//! `pg update-cards` against a sandbox: files, results, and that no card is submitted twice.

mod ends;
mod kills;
mod many;
mod refusals;
pub(super) mod relay;
mod sharing;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStderr, Command},
};

use tempfile::TempDir;

use self::relay::Relay;

use crate::command::{
    pg::{Ended, Pg, words},
    sandbox::Running,
    shop::Shop,
};

/// Reads the output of a run until a line contains this, and returns a reader of the rest. The run continues.
fn until_it_says(child: &mut Child, text: &str) -> BufReader<ChildStderr> {
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "it never said {text:?}");
    }
    said
}

/// Stored cards of a sandbox, in a file.
struct Cards {
    sandbox: Running,
    shop: Shop,
    keys: Vec<String>,
    folder: TempDir,
}

/// Status, response and new card key by old card key.
type Rows = BTreeMap<String, (String, String, String)>;

impl Cards {
    /// So many, in a sandbox whose clock runs so fast that a batch takes a fifth of a second.
    fn new(count: usize) -> Self {
        let sandbox = Running::start(&[]);
        let shop = Shop::of(&sandbox);
        let keys = shop.cards(count);
        shop.control("clock", r#"{"speed": 600}"#);
        let cards = Self { sandbox, shop, keys, folder: tempfile::tempdir().unwrap() };
        cards.write(&cards.keys.join("\n"));
        cards
    }

    fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("cards.txt")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder.path().join(format!("cards.txt{ending}"))
    }

    /// The command with the sandbox's account, in batches of two that are looked for soon.
    fn update(&self, flags: &str) -> Pg {
        self.update_as(&format!("--batch-size 2 --poll 1 {flags}"))
    }

    /// The command with the sandbox's account.
    fn update_as(&self, flags: &str) -> Pg {
        let command = format!("update-cards {} {flags}", self.file().display());
        self.sandbox.with_account(words(&command), "main")
    }

    fn rows(&self) -> Rows {
        rows(&fs::read_to_string(self.beside(".results.csv")).unwrap())
    }

    /// Every card has one row, with what the service answers for it.
    #[track_caller]
    fn are_exact(&self) {
        let rows = self.rows();
        assert_eq!(rows.len(), self.keys.len());
        for (at, key) in self.keys.iter().enumerate() {
            let (status, response, new) = &rows[key];
            let expected = ["700", "702"].get(at).copied().unwrap_or("706");
            assert_eq!((status.as_str(), response.as_str()), ("answered", expected), "{at}");
            assert_eq!(!new.is_empty() && new != key, expected != "706", "{at}");
        }
    }

    /// No card key was submitted twice.
    #[track_caller]
    fn were_submitted_once(&self) {
        let submitted = self.shop.submitted();
        assert!(submitted.values().all(|&times| times == 1), "{submitted:?}");
    }

    /// How many requests of the account updater the sandbox has seen.
    fn requests(&self) -> usize {
        let seen = self.shop.list("requests?limit=1000");
        seen.iter().filter(|seen| seen.to_string().contains("AccountUpdater")).count()
    }
}

/// The rows of a table without quotes. A key that is there twice is a failure.
#[track_caller]
fn rows(table: &str) -> Rows {
    let mut rows = Rows::new();
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("oldCardKey,status,response,cardKey,"));
    for line in lines {
        let fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let [key, status, response, new, ..] = fields.as_slice() else { panic!("{line}") };
        let before = rows.insert(key.clone(), (status.clone(), response.clone(), new.clone()));
        assert_eq!(before, None, "{key} twice");
    }
    rows
}

fn summary(ended: &Ended) -> serde_json::Value {
    serde_json::from_str(&ended.out).unwrap()
}

#[test]
fn a_file_is_read_and_every_card_gets_its_row() {
    let cards = Cards::new(5);
    let keys = &cards.keys;
    cards.write(&format!(
        "\u{feff}# cards\r\n{}\r\n\r\n  {}  \n{}\n# again\n{}\n{}\n{}",
        keys[0], keys[1], keys[2], keys[0], keys[3], keys[4]
    ));
    let ended = cards.update("").run().ends(0).says("6 card keys, 1 of them a repeat: 5 answered, 2 with a new card");
    assert!(ended.out.is_empty() && !ended.err.contains('\u{1b}'), "{}", ended.err);
    cards.are_exact();
    cards.were_submitted_once();
    // All cards are done, so no request is sent.
    let requests = cards.requests();
    let again = cards.update("--json").run().ends(0).says("an earlier run finished all card keys");
    let told = summary(&again);
    assert_eq!((&told["answered"], &told["updated"], &told["duplicates"]), (&5.into(), &2.into(), &1.into()));
    assert_eq!(cards.requests(), requests);
    cards.are_exact();
    let state = fs::read_to_string(cards.beside(".pg-state")).unwrap();
    let secrets = ["apiKey", "apiPassword", "shaKey", "accountUpdaterKey"];
    for secret in secrets.map(|name| cards.sandbox.facts["merchants"][0][name].as_str().unwrap()) {
        assert!(!state.contains(secret) && !again.err.contains(secret));
    }
}

#[test]
fn a_column_of_a_table_becomes_json() {
    let cards = Cards::new(3);
    let lines = cards.keys.iter().map(|key| format!("\"Smith, Ann\";{key};x"));
    cards.write(&format!("customer;CardKey;note\n{}\n", lines.collect::<Vec<_>>().join("\n")));
    let output = cards.folder.path().join("new.json");
    cards.update(&format!("--output {}", output.display())).run().ends(0);
    let text = fs::read_to_string(output).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let told: Vec<_> = rows.as_array().unwrap().iter().map(|row| (&row["oldCardKey"], &row["response"])).collect();
    let keys: Vec<serde_json::Value> = cards.keys.iter().map(|key| key.as_str().into()).collect();
    assert_eq!(told, [(&keys[0], &"700".into()), (&keys[1], &"702".into()), (&keys[2], &"706".into())]);
    assert_eq!(rows[0]["card"]["cardNumber"], "400000******9003");
    assert!(!text.contains("4000000000009003"));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let cards = Cards::new(3);
    let piped = |flags: &str| {
        let command = words(&format!("update-cards - --batch-size 2 --poll 1 {flags}"));
        cards.sandbox.with_account(command, "main").input(&cards.keys.join("\r\n")).run().ends(0)
    };
    assert_eq!(rows(&piped("").out).len(), 3);
    let json: serde_json::Value = serde_json::from_str(&piped("--json").out).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 3);
    // A reader of only the first line loses results, which is reported.
    cards.shop.control("clock", r#"{"speed": 0}"#);
    let command = words("update-cards - --batch-size 2 --poll 1");
    let mut child = cards.sandbox.with_account(command, "main").start_with(&cards.keys.join("\n"));
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    cards.shop.control("clock", r#"{"speed": 600}"#);
    let ended = child.ended().ends(4).says("cannot write standard output").says("cannot be resumed");
    assert!(!ended.err.contains("nothing is lost"), "{}", ended.err);
}

/// Only the array of a run that cannot be resumed ends with the failure. Nothing follows rows of a table, or an array that
/// another run continues.
#[test]
fn a_failure_follows_results_on_standard_output_only_if_they_are_a_whole_array() {
    let cards = Cards::new(1);
    let refused = |file: &str, flags: &str| {
        let command = words(&format!("update-cards {file} --poll 1 --json {flags}"));
        let command = cards.sandbox.with_account(command, "main").env("PG_API_PASSWORD", "wrong");
        command.input(&cards.keys[0]).run().ends(1).says("nothing more was sent").out
    };
    let out = refused("-", "");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!((json.as_array().unwrap().len(), &json[0]["exit"]), (1, &1.into()), "{json}");
    assert!(json[0]["error"]["message"].as_str().unwrap().contains("nothing more was sent"), "{json}");
    let table = refused("-", "--format csv");
    assert!(table.starts_with("oldCardKey,") && table.lines().count() == 1, "{table}");
    cards.write(&cards.keys[0]);
    assert_eq!(refused(&cards.file().display().to_string(), "--output -"), "[");
}

#[test]
fn rows_that_a_reader_did_not_take_are_not_said_to_be_kept() {
    let cards = Cards::new(3);
    cards.shop.control("clock", r#"{"speed": 0}"#);
    let mut child = cards.update("--output -").start();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    cards.shop.control("clock", r#"{"speed": 600}"#);
    let ended = child.ended().ends(4).says("cannot write standard output");
    assert!(!ended.err.contains("nothing is lost"), "{}", ended.err);
    ended
        .says("rows that the reader did not take are lost: run the same command again to resume after them; --restart");
}

#[test]
#[cfg(unix)]
fn an_interruption_ends_a_run_whose_standard_input_stays_open() {
    for signal in ["-INT", "-TERM"] {
        let cards = Cards::new(1);
        let mut child = cards.sandbox.with_account(words("update-cards -"), "main").start_open();
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds, so the command reads when this returns.
        input.write_all(&b"4F2C-91\n".repeat(32 << 10)).unwrap();
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        child.ended().ends(4).says("interrupted: nothing was sent");
        drop(input);
        assert_eq!(cards.requests(), 0);
    }
}

#[test]
fn callbacks_bring_batches_forward() {
    let cards = Cards::new(3);
    // Without the callbacks it would look after an hour.
    let flags = "--batch-size 2 --poll 3600 --listen 127.0.0.1:0";
    cards.update_as(flags).run().ends(0).says("receiving callbacks at http://127.0.0.1:");
    cards.are_exact();
}

#[test]
fn a_result_that_cannot_be_read_is_named() {
    let cards = Cards::new(2);
    let relay = Relay::changing(cards.sandbox.facts["baseUrl"].as_str().unwrap(), |body| {
        if body.contains("oldCardKey") { "x".repeat(body.len()) } else { body }
    });
    let ended = cards.update("--attempts 0").env("PG_BASE_URL", &relay.base).run().ends(3);
    assert!(!ended.err.contains("unreachable"), "{}", ended.err);
    ended
        .says("the replies to requests for the result of batch 1 (batchKey ")
        .says("are not this result: the last had HTTP status 200; if it stays so, ask the operator; run the same");
}

/// A proxy writes the card keys of results in another form.
#[test]
fn results_that_name_no_card_of_their_batch_are_reported() {
    let cards = Cards::new(2);
    let relay = Relay::changing(cards.sandbox.facts["baseUrl"].as_str().unwrap(), |body| {
        if body.contains("oldCardKey") { body.replace('-', "_") } else { body }
    });
    let ended = cards.update("--json").env("PG_BASE_URL", &relay.base).run().ends(4);
    let ended =
        ended.says("batch 1 (batchKey ").says("2 entries of its result are left out: the card key is not in the batch");
    let told = summary(&ended);
    assert_eq!((&told["answered"], &told["unanswered"], &told["strangers"]), (&0.into(), &2.into(), &2.into()));
}

#[test]
#[cfg(unix)]
fn new_result_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let cards = Cards::new(2);
    let rights = |ending: &str| fs::metadata(cards.beside(ending)).unwrap().permissions().mode() & 0o777;
    cards.update("").run().ends(0);
    assert_eq!((rights(".results.csv"), rights(".pg-state")), (0o600, 0o600));
    // An existing file keeps its permissions.
    fs::write(cards.beside(".shared"), "").unwrap();
    fs::set_permissions(cards.beside(".shared"), fs::Permissions::from_mode(0o640)).unwrap();
    let output = format!("--restart --output {}", cards.beside(".shared").display());
    cards.update(&output).run().ends(0);
    assert_eq!(rights(".shared"), 0o640);
}
