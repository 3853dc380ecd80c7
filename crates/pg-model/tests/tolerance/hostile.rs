//! Bodies that were made, or cut, to do harm.

use std::{fs, path::PathBuf};

use pg_model::{
    AccountUpdaterBatch, CardKeyDetail, CardKeyDetails, CheckoutToken, METHODS, RedirectData, Transaction, decode_into,
};
use proptest::prelude::*;

use crate::{response, try_read};

/// Enough levels to overflow the stack of a thread, were they read by plain recursion.
const DEEP: usize = if cfg!(miri) { 2_000 } else { 200_000 };

fn deep_xml(around: (&str, &str)) -> String {
    response(&format!("{}{}{}{}", around.0, "<a>".repeat(DEEP), "</a>".repeat(DEEP), around.1))
}

#[test]
fn deep_xml_is_refused() {
    for around in
        [("", ""), ("<card>", "</card>"), ("<cardKey>", "</cardKey>"), ("<card><cardType>", "</cardType></card>")]
    {
        let error = try_read::<CardKeyDetail>(&deep_xml(around)).expect_err("too deep");
        assert!(error.to_string().contains("too deeply"), "{around:?}: {error}");
    }
    for around in [("<cardKeyDetails>", "</cardKeyDetails>"), ("<cardKeyDetails><x>", "</x></cardKeyDetails>")] {
        assert!(try_read::<CardKeyDetails>(&deep_xml(around)).is_err(), "{around:?}");
    }
    assert!(try_read::<RedirectData>(&deep_xml(("<errors>", "</errors>"))).is_err());
    assert!(try_read::<RedirectData>(&deep_xml(("<errors><cardCV2>", "</cardCV2></errors>"))).is_err());
    assert!(try_read::<Transaction>(&deep_xml(("<bankX>", "</bankX>"))).is_err());
}

#[test]
fn deep_json_is_refused() {
    for name in ["unknown", "cardKey", "card"] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let body = format!("{{\"{name}\":{}1{}}}", open.repeat(DEEP), close.repeat(DEEP));
            assert!(try_read::<CardKeyDetail>(&body).is_err(), "{name} {open}");
        }
    }
    let list = format!("{{\"cardKeyDetails\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP));
    assert!(try_read::<CardKeyDetails>(&list).is_err());
}

#[test]
fn ordinary_depth_is_read() {
    let xml = response(&format!("{}x{}", "<a>".repeat(20), "</a>".repeat(20)));
    assert!(try_read::<CardKeyDetail>(&xml).is_ok());
    let json = format!("{}1{}", "{\"a\":".repeat(20), "}".repeat(20));
    assert!(try_read::<CardKeyDetail>(&json).is_ok());
}

/// How many fields and records are many.
const MANY: usize = if cfg!(miri) { 500 } else { 200_000 };

/// Names that repeat or differ cost what they weigh, not its square.
#[test]
fn many_unknown_fields_are_read_in_time() {
    let xml: String = (0..MANY).map(|n| format!("<f{n}/>")).collect();
    assert!(try_read::<CardKeyDetail>(&response(&xml)).is_ok());
    let same: String = "<f/>".repeat(MANY);
    assert!(try_read::<CardKeyDetail>(&response(&same)).is_ok());
    let json: Vec<String> = (0..MANY).map(|n| format!("\"f{n}\":0")).collect();
    assert!(try_read::<CardKeyDetail>(&format!("{{{}}}", json.join(","))).is_ok());
}

const FEW_RECORDS: usize = if cfg!(miri) { 100 } else { 1_000 };
const MANY_RECORDS: usize = if cfg!(miri) { 2_000 } else { 50_000 };

/// An empty record takes a few bytes there and some hundred here.
#[test]
fn more_records_than_the_length_is_good_for_are_refused() {
    let json = |record: &str, count| format!(r#"{{"cardKeyDetails":[{}]}}"#, vec![record; count].join(","));
    let xml = |record: &str, count| response(&format!("<cardKeyDetails>{}</cardKeyDetails>", record.repeat(count)));
    let errors = |count| format!(r#"{{"errors":{{{}}}}}"#, vec![r#""a":{}"#; count].join(","));
    for body in [json("{}", FEW_RECORDS), xml("<a/>", FEW_RECORDS)] {
        assert_eq!(try_read::<CardKeyDetails>(&body).expect("few").card_key_details.len(), FEW_RECORDS);
    }
    assert_eq!(try_read::<RedirectData>(&errors(FEW_RECORDS)).expect("few").errors.iter().len(), FEW_RECORDS);
    let refused = [
        try_read::<CardKeyDetails>(&json("{}", MANY_RECORDS)).map(drop),
        try_read::<CardKeyDetails>(&xml("<a/>", MANY_RECORDS)).map(drop),
        try_read::<CardKeyDetails>(&xml("<a><b/></a>", MANY_RECORDS)).map(drop),
        try_read::<RedirectData>(&errors(MANY_RECORDS)).map(drop),
    ];
    for error in refused.map(|read| read.expect_err("too many").to_string()) {
        assert!(error.contains("contains too many records for its length"), "{error}");
    }
    // The shortest that say which card they are, as many as a batch may have and ten times as many.
    for count in if cfg!(miri) { [10, 100] } else { [5_000, 50_000] } {
        let key = "0123456789abcdef0123456789abcdef";
        let body = json(&format!(r#"{{"cardKey":"{key}"}}"#), count);
        assert_eq!(try_read::<CardKeyDetails>(&body).expect("real ones").card_key_details.len(), count);
        let body = xml(&format!("<a><cardKey>{key}</cardKey></a>"), count);
        assert_eq!(try_read::<CardKeyDetails>(&body).expect("real ones").card_key_details.len(), count);
    }
}

/// The golden replies of the workspace.
fn golden_replies() -> Vec<(PathBuf, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/replies");
    let mut found: Vec<_> = fs::read_dir(root)
        .expect("the golden replies")
        .flat_map(|folder| fs::read_dir(folder.expect("an entry").path()).expect("a folder"))
        .map(|file| file.expect("an entry").path())
        .collect();
    found.sort();
    assert!(found.len() > 60, "only {} golden replies", found.len());
    let some = found.into_iter().step_by(if cfg!(miri) { 16 } else { 1 });
    some.map(|path| (path.clone(), fs::read(path).expect("a readable file"))).collect()
}

#[test]
fn a_reply_cut_short_at_any_byte_is_an_error() {
    for (path, body) in golden_replies() {
        let body = body.trim_ascii_end();
        let method = METHODS
            .iter()
            .find(|info| path.ends_with(format!("{}/{}", info.service.name, file_name(&path, info.name))));
        for end in (0..body.len()).step_by(if cfg!(miri) { 197 } else { 1 }) {
            let mut record: Box<dyn pg_model::Record> = method.map_or_else(
                || Box::new(RedirectData::default()) as Box<dyn pg_model::Record>,
                |info| (info.new_reply)(),
            );
            assert!(decode_into(&body[..end], &mut *record).is_err(), "{} cut at {end}", path.display());
        }
    }
}

fn file_name(path: &std::path::Path, method: &str) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    format!("{method}.{extension}")
}

/// Every reader that a service's bytes can reach.
fn read_as_everything(body: &[u8]) {
    for info in METHODS.iter().step_by(if cfg!(miri) { 7 } else { 1 }) {
        drop(decode_into(body, &mut *(info.new_reply)()));
    }
    drop(pg_model::decode::<CheckoutToken>(body));
    drop(pg_model::decode::<AccountUpdaterBatch>(body));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_handled(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_as_everything(&body);
    }

    #[test]
    fn any_markup_is_handled(body in "[<>/!?&;#x0-9\\[\\]CDATA\\-\"'= a-cé]{0,60}") {
        read_as_everything(response(&body).as_bytes());
        read_as_everything(format!("<{body}").as_bytes());
    }

    #[test]
    fn any_json_like_text_is_handled(body in "[{}\\[\\]:,\"\\\\u0-9dDeE+.a-c tnl-]{0,60}") {
        read_as_everything(format!("{{{body}").as_bytes());
        read_as_everything(format!("{{\"cardKeyDetails\":{{\"0\":{body}").as_bytes());
    }

    #[test]
    fn any_damage_to_a_golden_reply_is_handled(
        which in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let replies = golden_replies();
        let mut body = which.get(&replies).1.clone();
        for (at, byte) in damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        read_as_everything(&body);
    }
}
