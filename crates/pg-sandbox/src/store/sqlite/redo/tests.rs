use super::*;

/// A log in which a group can be written, beside a store that does not exist.
fn log(store: &Path) -> Redo {
    let (mut redo, left) = Redo::open(store, None, &[7; 32], (Since::default(), Whole::default()), 2).unwrap();
    assert!(left.is_empty());
    let next = redo.prepare(Whole::default()).unwrap();
    redo.turn(&next);
    redo
}

/// File systems over a network report an earlier error at a later write, whose data they have taken.
#[test]
fn a_group_whose_write_reports_an_error_is_not_there_although_its_data_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let mut redo = log(&folder.path().join("store"));
    redo.note(b"first");
    assert!(redo.append(Whole::default()).unwrap());
    let before = redo.end().used;
    let last = redo.end().last;
    redo.note(b"second");
    assert!(redo.append(Whole::default()).unwrap());
    let error = {
        let mut end = redo.end();
        (end.used, end.last) = (before, last);
        end.spoil(before, &io::Error::other("reported late"))
    };
    assert!(matches!(error, StoreError::Engine(_)), "{error}");
    let groups =
        |redo: &Redo| redo.so_far().unwrap().unwrap().groups().map(|(bytes, _)| bytes.to_vec()).collect::<Vec<_>>();
    assert_eq!(groups(&redo), [b"first"]);
    redo.note(b"third");
    assert!(redo.append(Whole::default()).unwrap());
    assert_eq!(groups(&redo), [&b"first"[..], b"third"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_entry_that_can_be_neither_written_nor_made_invalid_may_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let redo = log(&folder.path().join("store"));
    let mut end = redo.end();
    end.file = File::open("/dev/null").unwrap();
    assert!(matches!(end.spoil(HEADER as u64, &io::Error::other("broken")), StoreError::Unsynced(_)));
    // A full disk had no space for the entry.
    let full = io::Error::from(io::ErrorKind::StorageFull);
    assert!(matches!(end.spoil(HEADER as u64, &full), StoreError::Full));
}

/// The receipt is then recognised by its own tag alone, since it follows the tag of the group.
#[test]
fn damage_of_a_synced_group_that_ends_where_the_receipt_begins_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let mut redo = log(&store);
    redo.note(&vec![7; ENTRIES as usize - HEADER - START - TAG]);
    assert!(redo.append(Whole::default()).unwrap());
    redo.syncer().sync().unwrap();
    let generation = redo.generation();
    redo.end().write(generation, (HEADER + START) as u64, &[8]).unwrap();
    drop(redo);
    let opened = Redo::open(&store, None, &[7; 32], (Since::default(), Whole::default()), 2);
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("before commits that were acknowledged"), "{error}");
}

/// The store asks for the header once SQLite has committed.
#[test]
fn a_generation_begins_only_after_its_header_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut redo = log(&folder.path().join("store"));
    // A device that cannot be synced.
    redo.syncer = Syncer::new(File::open("/dev/null").unwrap());
    assert!(matches!(redo.prepare(Whole::default()), Err(StoreError::Unsynced(_))));
}
