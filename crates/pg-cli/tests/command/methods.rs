use pg_model::METHODS;

use crate::command::pg::words;

#[test]
fn all_methods_are_listed_by_service() {
    let ended = words("methods").run().ends(0).prints("Payment gateway (version 3").prints("lookup-first");
    for info in METHODS {
        assert!(ended.out.contains(&format!("  {}/{} ", info.service.name, info.name)), "{info:?}");
    }
    assert_eq!(ended.err, "");
    // Each column has its heading above it.
    let heading = ended.out.lines().next().unwrap();
    let row = ended.out.lines().find(|line| line.contains(" transaction/capturepreauth ")).unwrap();
    for (name, cell) in [("method", "transaction/capturepreauth"), ("retry", "never"), ("what it does", "Capture")] {
        assert_eq!(heading.find(name), row.find(cell), "{name}\n{heading}\n{row}");
    }
}

#[test]
fn details_show_every_parameter() {
    for info in METHODS {
        let ended = words(&format!("methods {}/{}", info.service.name, info.name)).run().ends(0).prints(info.doc);
        for field in info.fields {
            assert!(ended.out.lines().any(|line| line.starts_with(&format!("{} ", field.wire))), "{info:?} {field:?}");
        }
    }
    words("methods transaction/auth").run().prints("13–19").prints("2 §4.3").prints("(never shown)");
}

// spec: 1 §4.1, A22
#[test]
fn programs_can_read_the_reference() {
    let out = words("methods --json").run().ends(0).out;
    let methods: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(methods.as_array().unwrap().len(), METHODS.len());
    let out = words("--json methods transaction/auth").run().ends(0).out;
    let auth: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(auth["retry"], "lookup-first");
    let card = auth["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "cardNumber").unwrap();
    assert_eq!((&card["required"], &card["minLength"], &card["sensitive"]), (&true.into(), &13.into(), &true.into()));
}

#[test]
fn an_unknown_method_is_misuse() {
    words("methods transaction/auht").run().ends(2).says("did you mean transaction/auth?");
    words("methods authCardKey").run().ends(2).says("did you mean transaction/authCardKey?");
    words("methods xyz").run().ends(2).says("`pg methods` lists them");
    words("methods utility/sms").run().ends(0).prints("enterprise/sms");
}
