//! Rows with digests, which are kept in eras.

use super::*;
use crate::records::UniqueReference;

/// There are many eras here, and each reference is in most of them.
#[test]
fn rows_are_found_by_reference_whatever_eras_they_are_in() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let mut notes: Vec<Note> =
        (0..2_000).map(|n| note(&format!("k{n:04}"), "main", &format!("r{}", n % 500))).collect();
    notes.chunks(100).for_each(|notes| write(&mut store, notes));
    // Rows of early eras get other references, and some are removed.
    for number in (0..2_000).step_by(7) {
        notes[number].reference = Some(format!("s{}", number % 3));
        write(&mut store, &notes[number..=number]);
    }
    for number in (0..2_000).rev().step_by(11) {
        store.begin().unwrap();
        store.remove(Note::KIND, &notes.remove(number).key).unwrap();
        store.commit().unwrap();
    }
    for reopened in [false, true] {
        if reopened {
            drop(store);
            store = Sqlite::open(&path, &KEY).unwrap();
        }
        assert!(store.keys.era() > 5);
        for reference in ["r0", "r3", "r400", "s0", "s2", "none"] {
            let with = notes.iter().filter(|note| note.reference.as_deref() == Some(reference));
            let oldest: Vec<&str> = with.map(|note| &*note.key).collect();
            let newest: Vec<&str> = oldest.iter().rev().copied().take(50).collect();
            let below: Vec<&str> = oldest.iter().rev().copied().filter(|key| *key < "k0300").collect();
            let of = |query: Query<'static>| query.of("main").equal(Payment::MERCHANT_REFERENCE, reference);
            assert_eq!(keys(&mut store, &of(Query::oldest(u32::MAX))), oldest, "{reference}, {reopened}");
            assert_eq!(keys(&mut store, &of(Query::newest(50))), newest, "{reference}, {reopened}");
            assert_eq!(keys(&mut store, &of(Query::newest(900).before("k0300"))), below, "{reference}, {reopened}");
        }
    }
}

/// A key that is a digest is unique over all eras, and keeps its era when its row is written again.
#[test]
fn a_key_that_is_a_digest_is_in_one_era() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let reference =
        |n: u32, transaction: &str| UniqueReference::new("main", &n.to_string(), Some(transaction.to_owned()));
    let change = |store: &mut Sqlite, from: u32, transaction: Option<&str>| {
        store.begin().unwrap();
        let mut records = Transaction::new(store);
        for number in from..from + 100 {
            match transaction {
                Some(transaction) => records.put(&reference(number, transaction)).unwrap(),
                None => assert!(records.remove::<UniqueReference>(reference(number, "").key()).unwrap()),
            }
        }
        records.keep().unwrap();
        store.commit().unwrap();
    };
    (0..1_000).step_by(100).for_each(|from| change(&mut store, from, Some("first")));
    change(&mut store, 0, Some("second"));
    change(&mut store, 300, None);
    change(&mut store, 300, Some("third"));
    change(&mut store, 500, None);
    drop(store);
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let one = |sql: &str| store.connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    assert!(one("SELECT max(era) FROM unique_references") > 5);
    assert_eq!(one("SELECT count(*) FROM unique_references"), 900);
    let mut records = Transaction::new(&mut store);
    for number in 0..1_000 {
        let found = records.get::<UniqueReference>(reference(number, "").key()).unwrap();
        let expected = match number / 100 {
            0 => Some("second"),
            3 => Some("third"),
            5 => None,
            _ => Some("first"),
        };
        assert_eq!(found.map(|found| found.transaction), expected.map(|text| Some(text.to_owned())), "{number}");
    }
    let all = records.find::<UniqueReference>(&Query::oldest(u32::MAX).of("main")).unwrap();
    assert_eq!(all.len(), 900);
    let paged = Query::oldest(9).before("main/1");
    assert!(store.select(UniqueReference::KIND, &paged).is_err(), "digests have no order");
}
