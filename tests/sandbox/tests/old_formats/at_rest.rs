//! What can be read in the files of a store without its key.

use std::{fs, path::Path};

use pg_sandbox::Sandbox;
use rusqlite::Connection;

use crate::{
    old_formats::shop::{IN_CLEAR, NEWEST, ask, call, make, open, pay, show},
    on_disk::on_disk,
};

const PAN: &str = "4000000000001000";
const DELETED: &str = "Grace Hopper";

/// Order numbers may have the length and the check digit of card numbers, so that none is refused.
// spec: 2 §1.1, A200: A card number in free text is accepted, encrypted when stored and masked where people look; the
//   caller gets a warning.
#[test]
fn a_card_number_in_free_text_is_accepted_sealed_masked_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    make(&store, NEWEST);
    let mut sandbox = open(&store);
    let order = [("cardKey", crate::old_formats::TOKEN), ("currency", "GBP"), ("itemPrice0", "100")];
    for (name, value) in [
        ("merchantReference", PAN.to_owned()),
        ("uniqueMerchantReference", PAN.to_owned()),
        ("itemName0", format!("Card {PAN}")),
        ("itemReference0", "4000 0000 0000 1000".to_owned()),
    ] {
        let mut sent: Vec<(&str, &str)> = [&order[..], &[(name, &value)]].concat();
        if name != "itemName0" {
            sent.push(("itemName0", "Tea"));
        }
        let response = ask(&mut sandbox, "transaction/authCardKey", &sent);
        assert!(response.status().is_success(), "{name}: {response:?}");
        let header = |name: &str| response.headers().get(name).unwrap().to_str().unwrap();
        assert_eq!(
            header("pg-warning"),
            format!("{name} contains a value like a card number, which belongs in cardNumber only")
        );
        assert!(header("pg-basis").contains("A200"), "{}", header("pg-basis"));
        assert!(!show(&mut sandbox, "requests").to_string().contains(PAN), "{name}");
    }
    for name in ["merchantReference", "uniqueMerchantReference"] {
        let found = call(&mut sandbox, "transaction/lookup", &[(name, PAN)]);
        assert_eq!(found["transactions"].as_object().unwrap().len(), 1, "{name}: {found}");
    }
    let twice = pay(&mut sandbox, "100", &[("uniqueMerchantReference", PAN)]);
    assert_eq!(twice["errorCode"], "950");
    nothing_in_clear(&folder, sandbox);
}

fn nothing_in_clear(folder: &tempfile::TempDir, sandbox: Sandbox) {
    let check = || {
        assert!(on_disk(folder.path(), crate::old_formats::TOKEN), "the search finds what is there");
        for text in [PAN, "400000******1000", "4000 0000 0000 1000", "Tea", "600"] {
            assert!(!on_disk(folder.path(), &format!("\"{text}")) && !on_disk(folder.path(), &format!("{text}\"")));
        }
        assert!(!on_disk(folder.path(), PAN));
    };
    check();
    drop(sandbox);
    check();
}

#[test]
fn a_store_in_clear_is_sealed_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    make(&store, IN_CLEAR.len());
    let in_clear = ["Ada Lovelace", "old-1", "\"transactionKey", "shop-1", "First Test Bank"];
    let there: Vec<&str> = in_clear.into_iter().filter(|text| on_disk(folder.path(), text)).collect();
    assert!(there.len() >= 4, "{there:?}");
    // Rows that the earlier program deleted: as it did, without overwriting their pages.
    let earlier = Connection::open(&store).unwrap();
    earlier.pragma_update(None, "secure_delete", false).unwrap();
    let body = format!("{{\"text\":\"{DELETED}{}\"}}", "x".repeat(3_000));
    for number in 0..300 {
        let row = (format!("deleted-{number:03}"), &body);
        earlier.execute("INSERT INTO text_messages (key, merchant, body) VALUES (?1, 'main', ?2)", row).unwrap();
    }
    earlier.execute("DELETE FROM text_messages WHERE key LIKE 'deleted-%'", []).unwrap();
    drop(earlier);
    assert!(on_disk(folder.path(), DELETED));
    let sandbox = open(&store);
    let in_clear = in_clear.into_iter().chain([DELETED]);
    in_clear.clone().for_each(|text| assert!(!on_disk(folder.path(), text), "{text}"));
    drop(sandbox);
    in_clear.for_each(|text| assert!(!on_disk(folder.path(), text), "{text}"));
}

#[cfg(unix)]
#[test]
fn every_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let modes = |folder: &Path| {
        let mode = |entry: fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().permissions().mode() & 0o777)
        };
        let mut modes: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| mode(entry.unwrap())).collect();
        modes.sort();
        modes
    };
    let private =
        ["shop.sqlite", "shop.sqlite-redo", "shop.sqlite-wal", "shop.sqlite.key"].map(|name| (name.to_owned(), 0o600));
    for old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        if old {
            make(&store, IN_CLEAR.len());
            fs::set_permissions(&store, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let mut sandbox = open(&store);
        call(&mut sandbox, "session/initiate", &[("errorPageUrl", "https://shop.example/error")]);
        assert_eq!(modes(folder.path()), private, "old: {old}");
    }
}
