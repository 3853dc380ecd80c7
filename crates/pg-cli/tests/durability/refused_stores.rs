//! Stores that cannot be used: one line with the reason, exit code 2, and no change of the files.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{FileExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use pg_support::Dice;

use crate::durability::{Sandbox, command, piped, under, writer::Writer};

/// The positions of the format and the application id in a SQLite file: big-endian numbers of four bytes.
const USER_VERSION: u64 = 60;
const APPLICATION_ID: u64 = 68;

#[test]
fn a_store_serves_one_process_at_a_time() {
    let shop = Shop::with_a_payment();
    let first = Sandbox::start(&shop.store);
    for _ in 0..2 {
        shop.is_refused_with("in use by another process");
    }
    let mut writer = Writer::new(2, Dice::new(2), "");
    writer.pay(&mut first.caller()).unwrap();
    assert_eq!(writer.check(&mut first.caller()), Vec::<String>::new());
    drop(first);
    shop.still_works();
}

#[test]
fn a_store_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("letters.txt");
    fs::write(&store, "These are letters and no store. ".repeat(200)).unwrap();
    let shop = Shop { folder, store };
    shop.is_left_alone_with("not a sandbox store; it was not changed; choose another with --store\n");

    let shop = Shop::with_a_payment();
    shop.overwrite(APPLICATION_ID, 7);
    shop.is_left_alone_with("not a sandbox store");
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let shop = Shop::with_a_payment();
    shop.overwrite(USER_VERSION, 99);
    shop.is_left_alone_with("it was not changed; update the program\n");
}

#[test]
fn a_damaged_store_is_left_alone() {
    let shop = Shop::with_a_payment();
    let file = fs::OpenOptions::new().write(true).open(&shop.store).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    // Everything but the header and the list of tables.
    (1..pages).for_each(|page| file.write_all_at(&[0xA5; 4096], page * 4096).unwrap());
    shop.is_left_alone_with("; restore a copy of all of its files\n");
}

#[test]
fn cards_need_the_key_that_they_were_sealed_with() {
    let shop = Shop::with_a_payment();
    let key = fs::read(shop.key()).unwrap();

    fs::remove_file(shop.key()).unwrap();
    shop.is_left_alone_with("shop.sqlite.key is missing; restore it\n");
    assert!(!shop.key().exists(), "a new key would hide that the old one is missing");

    for (text, problem) in [
        (
            "0".repeat(64),
            "the key belongs to another store; restore the key file with which the store's cards were sealed\n",
        ),
        ("no key".to_owned(), "64 hexadecimal digits; restore it\n"),
    ] {
        fs::write(shop.key(), text).unwrap();
        fs::set_permissions(shop.key(), Permissions::from_mode(0o600)).unwrap();
        shop.is_left_alone_with(problem);
    }

    fs::write(shop.key(), &key).unwrap();
    fs::set_permissions(shop.key(), Permissions::from_mode(0o644)).unwrap();
    shop.is_left_alone_with(&format!("run: chmod 600 {}\n", shop.key().display()));

    fs::set_permissions(shop.key(), Permissions::from_mode(0o000)).unwrap();
    shop.is_left_alone_with("cannot read or create the key file");

    fs::set_permissions(shop.key(), Permissions::from_mode(0o600)).unwrap();
    shop.still_works();
}

#[test]
fn an_unwritable_path_is_named() {
    let shop = Shop::with_a_payment();
    let writable = fs::metadata(shop.folder.path()).unwrap().permissions();
    fs::set_permissions(shop.folder.path(), Permissions::from_mode(0o555)).unwrap();
    shop.is_left_alone_with("cannot open the store");
    let fresh = shop.folder.path().join("fresh.sqlite");
    refused(&fresh, "cannot open the store");
    assert!(!fresh.exists());
    fs::set_permissions(shop.folder.path(), writable).unwrap();

    fs::set_permissions(&shop.store, Permissions::from_mode(0o444)).unwrap();
    shop.is_left_alone_with("cannot open the store");
    fs::set_permissions(&shop.store, Permissions::from_mode(0o644)).unwrap();
    shop.still_works();
    refused(shop.folder.path(), "; name a file for the store\n");
    let nowhere = shop.folder.path().join("none");
    refused(&nowhere.join("shop.sqlite"), &format!("the folder {} does not exist; create it\n", nowhere.display()));
}

/// A store with a payment, and its key.
struct Shop {
    folder: TempDir,
    store: PathBuf,
}

impl Shop {
    fn with_a_payment() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        let sandbox = Sandbox::start(&store);
        Writer::new(1, Dice::new(1), "").pay(&mut sandbox.caller()).unwrap();
        sandbox.signal("-TERM");
        assert_eq!(sandbox.ended().0, Some(0));
        Self { folder, store }
    }

    fn key(&self) -> PathBuf {
        self.store.with_extension("sqlite.key")
    }

    fn overwrite(&self, place: u64, number: u32) {
        let file = fs::OpenOptions::new().write(true).open(&self.store).unwrap();
        file.write_all_at(&number.to_be_bytes(), place).unwrap();
    }

    #[track_caller]
    fn is_refused_with(&self, problem: &str) {
        refused(&self.store, problem);
    }

    #[track_caller]
    fn is_left_alone_with(&self, problem: &str) {
        let before = fs::read(&self.store).unwrap();
        self.is_refused_with(problem);
        assert!(fs::read(&self.store).unwrap() == before, "the store was changed");
    }

    #[track_caller]
    fn still_works(&self) {
        let sandbox = Sandbox::start(&self.store);
        assert_eq!(sandbox.caller().lookup("uniqueMerchantReference", "writer-1-payment-1").len(), 1);
    }
}

/// A process that ends at once, with one line.
#[track_caller]
fn refused(store: &Path, problem: &str) {
    // The superuser may write everywhere; without that one right, files are as they are for everybody.
    let superuser = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let script = r#"exec setpriv --bounding-set=-dac_override,-dac_read_search "$@""#;
    let mut command = if superuser { under(script, store) } else { command(store) };
    let ended = piped(&mut command).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let words = [problem, store.to_str().unwrap()];
    assert!(words.iter().all(|word| said.contains(word)), "no {words:?} in {said}");
    assert!(ended.status.code() == Some(2) && said.lines().count() == 1, "{said}");
}
