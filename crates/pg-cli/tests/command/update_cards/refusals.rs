//! Refusals before a request is sent.

use std::fs;

use sha2::Digest as _;

use super::{Cards, relay::Stop};
use crate::command::{
    peer::Peer,
    pg::{pg, words},
};

#[test]
fn bad_lines_are_named_and_nothing_is_sent() {
    let cards = Cards::new(2);
    let bad: String = (0..12).map(|at| format!("bad key {at}\n")).collect();
    cards.write(&format!("{}\n\n{bad}{}\n", cards.keys[0], cards.keys[1]));
    cards
        .update("")
        .run()
        .ends(2)
        .says("line 3: a card key contains no spaces")
        .says("line 12: ")
        .says("12 lines without a card key, the first 10 of them above; nothing was sent");
    assert_eq!(cards.requests(), 0);
    assert_eq!(fs::read_dir(cards.folder.path()).unwrap().count(), 1);
    // A part of a name is no card key.
    for table in ["name,cardKey\n\"Smith, John\nJr\",k-5\n", "cardKey,name\nk-5,\"Smith\nJohn\nJr\"\n"] {
        cards.write(table);
        cards.update("").run().ends(2).says("line 2: a quoted field has no end on this line");
        assert_eq!(cards.requests(), 0);
    }
    cards.write("# none\n");
    cards.update("").run().ends(2).says("has no card keys");
}

#[test]
fn resuming_refuses_another_file_account_or_output() {
    let cards = Cards::new(3);
    cards.kill_at(3, Stop::BeforeReply, "");
    let text = fs::read_to_string(cards.file()).unwrap();
    cards.write(&format!("{text}\n"));
    cards.update("").run().ends(2).says("started with a different file").says("--restart");
    cards.write(&text);
    cards.update("--same-account").run().ends(0);
    cards.update("--output elsewhere.csv").run().ends(2).says("omit --output");
    cards.update("--format json").run().ends(2).says("omit --format");
    cards.update("").env("PG_API_KEY", "0123456789abcdef0123456789abcdef").run().ends(2).says("a different account");
    fs::write(cards.beside(".pg-state"), "{").unwrap();
    cards.update("").run().ends(2).says("is not a state file of pg update-cards");
    let times = |cards: &Cards| cards.shop.submitted().values().sum::<usize>();
    assert_eq!(times(&cards), 3);
    cards.update("--restart").run().ends(0);
    assert_eq!(times(&cards), 6);
    cards.are_exact();
}

/// The usual line of a scheduler: the same command each month, whatever has become of the files of the last run.
#[test]
fn a_finished_run_leaves_its_results_to_others() {
    let cards = Cards::new(3);
    cards.update("").run().ends(0);
    let requests = cards.requests();
    let results = cards.beside(".results.csv");
    let edited = fs::read_to_string(&results).unwrap() + "a row that was added\r\n";
    fs::write(&results, &edited).unwrap();
    let again = cards.update("--json").run().ends(0).says("an earlier run finished all card keys: nothing is sent");
    let told: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&told["answered"], &told["results"]), (&3.into(), &results.display().to_string().into()));
    assert_eq!(fs::read_to_string(&results).unwrap(), edited);

    // Saved again by another program, and shorter.
    fs::write(&results, edited.replace("\r\n", "\n")).unwrap();
    cards.update("").run().ends(0).says("is not changed");
    fs::remove_file(&results).unwrap();
    let gone =
        cards.update("").run().ends(0).says("an earlier run finished all card keys").says("does not exist any more");
    assert!(!results.exists() && cards.requests() == requests, "{}", gone.err);

    // The next list is a new run, which overwrites nothing.
    fs::write(&results, &edited).unwrap();
    cards.write(&cards.keys[..2].join("\n"));
    let refused = cards.update("").run().ends(2).says("already exists; choose another with --output");
    assert!(!refused.err.contains("twice"), "{}", refused.err);
    assert_eq!((fs::read_to_string(&results).unwrap(), cards.requests()), (edited, requests));
    fs::remove_file(&results).unwrap();
    cards.update("").run().ends(0).says("2 card keys: 2 answered");
    assert_eq!(cards.rows().len(), 2);
}

#[test]
fn existing_files_are_not_overwritten() {
    let cards = Cards::new(2);
    fs::write(cards.beside(".results.csv"), "precious").unwrap();
    cards.update("").run().ends(2).says("already exists");
    assert_eq!(fs::read_to_string(cards.beside(".results.csv")).unwrap(), "precious");
    assert!(!cards.beside(".pg-state").exists());
    cards.update("--output /nowhere/at/all.csv").run().ends(2).says("cannot write /nowhere/at/all.csv");
}

#[test]
fn results_go_to_no_other_file_of_the_run() {
    let cards = Cards::new(2);
    let before = fs::read_to_string(cards.file()).unwrap();
    let file = cards.file().display().to_string();
    let elsewhere = format!("{}/./{}", cards.folder.path().display(), cards.file().file_name().unwrap().display());
    for (output, says) in [
        (file.clone(), "is the input; choose another file"),
        (elsewhere, "is the input; choose another file"),
        (format!("{file}.pg-state"), "is the state file; choose another file"),
        (format!("{file}.pg-state.new"), "is a part of the state file; choose another file"),
    ] {
        for restart in ["", "--restart"] {
            cards.update(&format!("--output {output} {restart}")).run().ends(2).says(says);
        }
    }
    assert_eq!(fs::read_to_string(cards.file()).unwrap(), before);
    assert!(!cards.beside(".pg-state").exists() && cards.shop.submitted().is_empty());
    // The payments of a fleet.
    let store = cards.store();
    let payments = fs::read(&store).unwrap();
    for part in ["", "-wal"] {
        for restart in ["", "--restart"] {
            let flags = format!("--store {store} --output {store}{part} {restart}");
            cards.update(&flags).run().ends(2).says("is the store of intents, or a part of it; choose another file");
        }
    }
    assert!(fs::read(&store).unwrap() == payments);
    fs::rename(&store, cards.beside(".pg-state")).unwrap();
    let flags = format!("--store {} --restart", cards.beside(".pg-state").display());
    cards.update(&flags).run().ends(2).says("is the state file of this run; choose another store");
    assert!(fs::read(cards.beside(".pg-state")).unwrap() == payments);
    let dialect = cards.beside(".dialect.toml");
    fs::write(&dialect, "name = \"own\"").unwrap();
    let flags = format!("--dialect {0} --output {0} --restart", dialect.display());
    cards.update(&flags).run().ends(2).says("is the file of --dialect; choose another file");
    assert_eq!(fs::read_to_string(&dialect).unwrap(), "name = \"own\"");
}

#[test]
fn a_file_is_for_one_run_at_a_time() {
    let cards = Cards::new(2);
    let held = fs::File::open(cards.file()).unwrap();
    held.lock().unwrap();
    cards.update("").run().ends(2).says("another pg update-cards is running on");
    assert_eq!(cards.requests(), 0);
    drop(held);
    cards.update("").run().ends(0);
}

#[test]
fn invalid_arguments_are_misuse() {
    words("update-cards").run().ends(2);
    words("update-cards none.txt").account("https://gateway.example").run().ends(2).says("cannot read none.txt");
    words("update-cards .")
        .account("https://gateway.example")
        .run()
        .ends(2)
        .says(". is a folder; name a file of card keys");
    words("update-cards x").run().ends(2).says("PG_BASE_URL");
    words("update-cards x").account("http://gateway.example").run().ends(2).says("https");
    pg(["update-cards", "x", "--callback-url", "foo"]).run().ends(2).says("expected a URL such as");
    for flags in ["--batch-size 0", "--batch-size 5001", "--public-url https://a.example", "--per-minute 0"] {
        pg(["update-cards", "x"].into_iter().chain(flags.split(' '))).run().ends(2);
    }
}

#[test]
fn card_numbers_are_not_taken_for_card_keys() {
    const PAN: &str = "4929420573595709";
    let cards = Cards::new(1);
    cards.write(&format!("{}\n{PAN}\n", cards.keys[0]));
    cards.update("").run().ends(2).says("line 2: it looks like a card number, not a card key").hides(&[PAN]);
    assert_eq!(cards.requests(), 0);
}

#[test]
fn an_update_that_never_started_leaves_no_state() {
    let cards = Cards::new(2);
    for flags in ["--output /nowhere/at/all.csv", &format!("--restart --output {}", cards.file().display())] {
        cards.update(flags).run().ends(2);
        assert!(!cards.beside(".pg-state").exists(), "{flags}");
    }
    assert_eq!(fs::read_to_string(cards.file()).unwrap(), cards.keys.join("\n"));
    #[cfg(target_os = "linux")]
    {
        cards.update("--output /dev/full").run().ends(2).says("cannot write /dev/full");
        assert!(!cards.beside(".pg-state").exists());
    }
    cards.update("").run().ends(0);
    cards.are_exact();
}

#[test]
fn an_address_that_cannot_be_called_is_refused_at_once() {
    let cards = Cards::new(2);
    cards.update("--listen 0.0.0.0:0").run().ends(2).says("--public-url");
    assert_eq!((cards.requests(), cards.beside(".pg-state").exists()), (0, false));
    cards.update("--listen 0").run().ends(0).says("receiving callbacks at http://127.0.0.1:");
}

#[test]
#[cfg(target_os = "linux")]
fn a_failed_save_is_reported_and_leaves_no_partial_state() {
    let cards = Cards::new(2);
    // No file may grow.
    let ended = cards.update("").under("sh", &["-c", "ulimit -f 0; exec \"$@\"", "sh"]).run().ends(2);
    ended.says("cards.txt.pg-state").says("copy the file to a writable folder");
    let left: Vec<_> = fs::read_dir(cards.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("pg-state")), "{left:?}");
    cards.update("").run().ends(0);
}

/// A copy of the file has no state, so its batches would be submitted twice.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_send_a_run_that_has_begun_elsewhere() {
    let cards = Cards::new(2);
    let peer = Peer::answering("");
    cards.update("--attempts 0").env("PG_BASE_URL", &peer.base).run();
    assert!(cards.beside(".pg-state").exists());
    let full = cards.update("").env("PG_BASE_URL", &peer.base).under("sh", &["-c", "ulimit -f 0; exec \"$@\"", "sh"]);
    let ended = full.run().ends(2).says("free disk space, then run the same command again to resume");
    assert!(!ended.err.contains("copy the file to"), "{}", ended.err);
    assert!(cards.beside(".pg-state").exists());
}

#[test]
#[cfg(unix)]
fn a_name_that_cannot_be_stored_is_refused_before_a_file_is_made() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let cards = Cards::new(1);
    let folder = cards.folder.path().join(OsStr::from_bytes(b"f\xff"));
    fs::create_dir(&folder).unwrap();
    let file = folder.join("keys.txt");
    fs::write(&file, &cards.keys[0]).unwrap();
    words("update-cards keys.txt")
        .within(&folder)
        .account("http://127.0.0.1:1")
        .run()
        .ends(2)
        .says("is not valid UTF-8")
        .says("choose another file with --output");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

/// An earlier version accepted the lines, and its batches can be fetched only by its run.
#[test]
fn a_file_that_only_earlier_versions_accepted_is_refused_for_new_runs_only() {
    let key = &*Cards::new(1).keys[0];
    for (accepted, refused, says) in [
        (
            format!("cardKey,customer\n{key},{key}\n"),
            format!("cardKey,card_key\n{key},{key}\n"),
            "two columns of the table have the name of the card keys",
        ),
        (format!("{key}\na-1\n"), format!("{key}\na;1\n"), "line 2: a line holds one card key"),
        (format!("{key}\na-1\n"), format!("{key}\na|1\n"), "line 2: a line holds one card key"),
        (
            format!("{key}\nX4929420573595709\n"),
            format!("{key}\n4929420573595709/\n"),
            "line 2: it looks like a card number",
        ),
    ] {
        let cards = Cards::new(1);
        let peer = Peer::answering("");
        assert_eq!(accepted.len(), refused.len());
        cards.write(&refused);
        cards.update("").run().ends(2).says(says).says("nothing was sent");
        cards.write(&accepted);
        cards.update("--attempts 0").env("PG_BASE_URL", &peer.base).run();
        let state = cards.beside(".pg-state");
        let hash =
            |text: &str| -> String { sha2::Sha512::digest(text).iter().map(|byte| format!("{byte:02x}")).collect() };
        let stored = fs::read_to_string(&state).unwrap();
        assert!(stored.contains(&hash(&accepted)), "{stored}");
        fs::write(&state, stored.replace(&hash(&accepted), &hash(&refused))).unwrap();
        cards.write(&refused);
        let again = cards.update("--attempts 0").env("PG_BASE_URL", &peer.base).run();
        assert!(again.err.contains("resuming an earlier run") && !again.err.contains(says), "{}", again.err);
        cards.update("--restart").run().ends(2).says(says);
    }
}

#[test]
fn what_is_no_file_of_card_keys_is_refused_for_what_it_is() {
    let cards = Cards::new(1);
    let folder = cards.folder.path().to_str().unwrap();
    let update = |file: &str| pg(["update-cards", file]).account("http://127.0.0.1:1");
    update(folder).run().ends(2).says("is a folder; name a file of card keys");
    #[cfg(unix)]
    update("/dev/null").run().ends(2).says("/dev/null cannot be read twice; pass - and pipe it in");
    #[cfg(unix)]
    let endless = update("-").run_from(fs::File::open("/dev/zero").unwrap()).ends(2);
    #[cfg(unix)]
    endless.says("standard input, line 1: longer than 64 KiB");
}

/// Opening one would wait for its other end, deaf to Ctrl-C.
#[test]
#[cfg(unix)]
fn named_pipes_in_place_of_files_are_refused() {
    let pipe = |path: &std::path::Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for (name, problem) in [
        (".results.csv", "it is a named pipe; name a file"),
        (".pg-state", "it is a named pipe"),
        ("", "cannot be read twice; pass - and pipe it in"),
    ] {
        let cards = Cards::new(2);
        let path = cards.beside(name);
        // The file of card keys exists.
        drop(fs::remove_file(&path));
        pipe(&path);
        cards.update("").run().ends(2).says(problem);
        assert_eq!(cards.requests(), 0, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    pipe(&folder.path().join("report.html"));
    let plan = folder.path().join("rehearse.toml");
    fs::write(&plan, "[jobs.charge]\ncommand = [\"true\"]\n").unwrap();
    let report = folder.path().join("report.html");
    let command = format!("rehearse --plan {} --only M01 --html {}", plan.display(), report.display());
    words(&command).run().ends(2).says("it is a named pipe; name a file");
}
