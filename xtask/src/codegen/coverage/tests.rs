//! The list is complete, and its checks report every mistake.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{
    super::{
        TABLES,
        check::mentioned_assumptions,
        names,
        place::{Problems, allowed},
        tables,
        tests::root,
    },
    *,
};
use crate::workspace;

fn real_tables() -> Tables {
    tables::load(&root().join(TABLES), &mut Problems::default()).unwrap()
}

fn names(root: &Path) -> BTreeSet<String> {
    Tests::read(root, &mut Problems::default()).names.into_iter().collect()
}

/// The messages about a project whose documents have these sections, a line each from the second on, and whose source
/// is this.
fn told(sections: &[&str], source: &[&str]) -> String {
    let copy = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| workspace::write(copy.path(), path, text).unwrap();
    write("tests/coverage/contents.toml", &format!("sections = [\n{}\n]\n", sections.join(",\n")));
    write("crates/a/Cargo.toml", "[package]\nname = \"pg-a\"\n");
    write("crates/a/src/lib.rs", &source.join("\n"));
    generate(copy.path(), &real_tables()).unwrap_err().to_string()
}

fn has(told: &str, messages: &[&str]) {
    for message in messages {
        assert!(told.contains(message), "{message}:\n{told}");
    }
}

/// A scan that finds too little would leave facts out of the page.
#[test]
fn every_test_of_the_workspace_is_found() {
    let Tests { names, cited } = Tests::read(&root(), &mut Problems::default());
    let facts = cited.iter().filter(|one| !one.sentence.is_empty()).count();
    assert!(names.len() > 1900, "only {} tests were found", names.len());
    assert!(facts > 350, "only {facts} facts were found");
    generate(&root(), &real_tables()).unwrap();
}

/// Every promised protection names an existing test.
#[test]
fn the_tests_of_the_threat_model_exist() {
    let page = fs::read_to_string(root().join("docs/internals/threat-model.md")).unwrap();
    let existing = names(&root());
    let words = |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for word in words(&page).iter().filter(|word| word.contains("::") && !word.contains("PACKAGE")) {
        let template = *word == "package::target::module::function";
        // Searching for a similar name takes long, so it is done for mistakes only.
        let hint = || allowed(word, existing.iter().map(String::as_str));
        assert!(
            template || existing.contains(word),
            "docs/internals/threat-model.md names {word}, which is not a test{}",
            hint()
        );
    }
    let attackers = page.split("\n### ").skip(1).collect::<Vec<_>>();
    assert_eq!(attackers.len(), 8);
    for attacker in attackers {
        let title = attacker.lines().next().unwrap_or_default();
        let shown = words(attacker).iter().any(|word| word.contains("::")) || title.contains("supply chain");
        assert!(shown && attacker.contains("Not protected: "), "{title}");
    }
    let fuzzed = words(page.split("\n## Fuzzing").nth(1).unwrap());
    for harness in fs::read_dir(root().join("tests/fuzz/fuzz_targets")).unwrap() {
        let name = harness.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(fuzzed.contains(&name), "docs/internals/threat-model.md does not say what {name} checks");
    }
}

/// The table of measured attacks has a row for every kind of hostile connection, under its name.
#[test]
fn every_kind_of_hostile_connection_has_a_row_of_figures() {
    let page = fs::read_to_string(root().join("docs/internals/attacks.md")).unwrap();
    let kinds = fs::read_to_string(root().join("tests/src/bin/attack/hostile.rs")).unwrap();
    let names: Vec<&str> = kinds
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \"")?.1.strip_suffix("\","))
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| {name} | ")) || page.contains(&format!("| TLS: {name} | ")), "{name}");
    }
}

/// Where assumptions are named in any case: the register, what lists it, and the generator, whose tests invent numbers.
const REGISTERS: [&str; 6] = [
    "crates/pg-model/tables/assumptions.toml",
    "crates/pg-sandbox/src/generated/assumed.rs",
    "crates/pg-sandbox/src/generated/assumptions.rs",
    "docs",
    "tests/coverage",
    "xtask/src/codegen",
];

/// Code names an assumption as `A59`, or by a constant such as `assumed::LIFE_OF_A_PREAUTH`.
#[test]
fn every_assumption_is_named_by_code_and_shown_by_a_test() {
    let tables = real_tables();
    let rows = || tables.assumptions.iter();
    let registered: BTreeSet<u16> = rows().map(|row| row.number).collect();
    let constants: BTreeMap<String, u16> = rows().map(|row| (names::constant(&row.title), row.number)).collect();
    let mut named = BTreeSet::new();
    for file in workspace::files(&root()).unwrap() {
        let ending = file.extension().and_then(|ending| ending.to_str());
        if !["rs", "toml", "py"].contains(&ending.unwrap_or_default())
            || REGISTERS.iter().any(|own| file.starts_with(own))
        {
            continue;
        }
        let text = fs::read_to_string(root().join(&file)).unwrap();
        // A citation in a test is not a citation in the code. Numbers from 900 on are invented by tests.
        for line in text.lines().filter(|line| !line.contains("// spec: ")) {
            let written = mentioned_assumptions(line).into_iter().filter(|number| *number < 900);
            let constant =
                |rest: &str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_owned);
            let constants = line.split("assumed::").skip(1).filter_map(|rest| constants.get(&constant(rest)?).copied());
            for number in written.chain(constants) {
                assert!(registered.contains(&number), "A{number:02} is not in the register, but in {}", file.display());
                named.insert(number);
            }
        }
    }
    let rows = entries(&tables).into_iter().filter_map(|entry| entry.assumption);
    let cited = Tests::read(&root(), &mut Problems::default()).cited;
    let shown = cited.into_iter().flat_map(|one| one.assumptions).chain(rows).collect();
    assert_eq!(registered.difference(&named).collect::<Vec<_>>(), [&0; 0], "no code names these");
    assert_eq!(registered.difference(&shown).collect::<Vec<_>>(), [&0; 0], "no row of the coverage names these");
}

#[test]
fn a_comment_says_a_clause_a_sentence_or_rows() {
    let comments = [
        "1 §1 rows, A07, A12: What it says: all; of it.",
        "1 §1; 2 §4.2, A30; codes ErrorCode 101 102; method token/lookup; parameters signed session; fields",
    ];
    let cited = comments.map(|comment| citations::cited(Place::default(), comment, "a::b"));
    let cited: Vec<_> =
        cited.iter().flatten().map(|one| (&*one.target, &one.assumptions[..], &*one.sentence)).collect();
    let none = &[][..];
    let expected = [
        ("1 §1 rows", &[7, 12][..], "What it says: all; of it."),
        ("1 §1", none, ""),
        ("2 §4.2", &[30], ""),
        ("codes ErrorCode 101", none, ""),
        ("codes ErrorCode 102", none, ""),
        ("method token/lookup", none, ""),
        ("parameters signed", none, ""),
        ("parameters session", none, ""),
        ("fields", none, ""),
    ];
    assert_eq!(cited, expected);
}

/// A comment above something else, or above a test that never runs, would have no effect.
#[test]
fn a_spec_comment_without_a_test_is_reported() {
    let lines = ["// spec: 1 §1: Of", "//   two lines.", "/// Why.", "#[test]", "fn first() {}"];
    let strays =
        ["// spec: 1 §2", "fn none() {}", "// spec: 1 §3", "", "#[test]", "// spec: 1 §4", "#[ignore = \"slow\"]"];
    let told = told(&[], &[&lines[..], &strays, &["fn never() {}", "// spec: 1 §5"]].concat());
    for (line, text) in [(6, "1 §2"), (8, "1 §3"), (11, "1 §4"), (14, "1 §5")] {
        has(&told, &[&format!("crates/a/src/lib.rs:{line}:1: no test is below this comment: {text}")]);
    }
    has(&told, &["crates/a/src/lib.rs:1:1: \"1 §1\" is no section"]);
    assert_eq!(told.matches("no test is below").count(), 4, "{told}");
}

#[test]
fn a_missing_row_is_reported() {
    let all = told(&[], &[]);
    let of_token = ["method token/lookup is in no table of a section", "no test says `// spec: method token/lookup`"];
    has(&all, &of_token);
    has(
        &all,
        &[
            "parameters transaction/auth `itemName{n}` is in no table of a section",
            "no test says `// spec: fields`",
            "codes ErrorCode `101` No data sent is in no table",
            "no test says `// spec: codes CardRetrievalCode 712`",
        ],
    );
    let section = "{ at = \"1 §1\", title = \"x\", tables = [{ name = \"rows\", rows = 1, from = [\"codes ErrorCode 101\", \"method token/lookup\"] }] }";
    let fewer = told(&[section], &["// spec: method token/lookup", "#[test]", "fn first() {}"]);
    for there in of_token.into_iter().chain(["codes ErrorCode `101`"]) {
        assert!(!fewer.contains(there), "{there}:\n{fewer}");
    }
}

/// The place is that of the section which the row names, as a contributor has to add a line there.
#[test]
fn a_mistake_points_at_its_section() {
    // Three sections share a heading.
    let told = told(
        &["{ at = \"1 §4.2\", title = \"lookup\" }", "{ at = \"1 §4.3\", title = \"enable, disable, delete\" }"],
        &[],
    );
    has(
        &told,
        &[
            "contents.toml:2:1: method token/lookup is in no table of a section; add \"method token/lookup\" to a `from` of 1 §4.2",
            "contents.toml:2:1: parameters token/lookup `cardKey` is in no",
            "contents.toml:3:1: method token/delete is in no table of a section; add \"method token/delete\" to a `from` of 1 §4.5",
            "contents.toml:3:1: no test says `// spec: method token/delete`",
        ],
    );
}

#[test]
fn missing_rows_of_a_document_table_are_reported() {
    let told = |rows: usize, from: &str, facts: &[&str]| {
        let section = format!(
            "{{ at = \"1 §1\", title = \"x\", tables = [{{ name = \"rows\", rows = {rows}, from = [{from}] }}] }}"
        );
        told(&[&section], &[facts, &["#[test]", "fn first() {}"]].concat())
    };
    let two = ["// spec: 1 §1 rows: x", "// spec: 1 §1 rows: y"];
    has(&told(2, "", &two[..1]), &["contents.toml:2:39: 1 §1 has 2 rows in \"rows\", 1 are listed"]);
    assert!(!told(2, "", &two).contains("are listed"));
    assert!(!told(10, "\"record Card\"", &two).contains("are listed"), "eight fields and two facts");
    has(&told(11, "\"record Card\"", &two), &["has 11 rows in \"rows\", 10 are listed"]);
    // Four of its twelve fields are of an assumption.
    assert!(!told(8, "\"record Transaction\"", &[]).contains("are listed"));
    has(&told(9, "\"record Transaction\"", &[]), &["has 9 rows in \"rows\", 8 are listed"]);
}

#[test]
fn unknown_citations_are_reported() {
    let section = |rest: &str| format!("{{ at = \"1 §1\", title = \"What it does\"{rest} }}");
    let tables = section(", open = [\"A59\"], tables = [{ name = \"rows\", rows = 1, from = [\"record Crad\"] }]");
    let comments = ["1 §2", "1 §1 row: x", "1 §1, A999", "codes ErrorCode 42", "method token/lokup", "A92"];
    let comments: Vec<String> = comments.iter().map(|text| format!("// spec: {text}")).collect();
    let mut source: Vec<&str> = comments.iter().map(String::as_str).collect();
    source.extend(["#[test]", "fn first() {}"]);
    has(
        &told(&[&tables], &source),
        &[
            "\"record Crad\" names no rows of the tables; did you mean \"record Card\"?",
            "lib.rs:1:1: \"1 §2\" is no section, table or row; did you mean \"1 §1\"?",
            "lib.rs:2:1: \"1 §1 row\" is no section, table or row; did you mean \"1 §1 rows\"?",
            "lib.rs:3:1: A999 is not an assumption",
            "lib.rs:4:1: \"codes ErrorCode 42\" is no section, table or row",
            "lib.rs:5:1: \"method token/lokup\" is no section, table or row; did you mean \"method token/lookup\"?",
            "lib.rs:6:1: \"A92\" is no section, table or row; cite as in `2 §4.3, A92`, `method",
            "no statement of 1 §1 shows A59",
        ],
    );
    has(&told(&[&section("")], &[]), &["nothing is listed of 1 §1 What it does"]);
}

#[test]
fn tests_are_found_where_cargo_finds_them() {
    let copy = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| workspace::write(copy.path(), path, text).unwrap();
    write("crates/a/Cargo.toml", "[package]\nname = \"pg-a\"\n");
    write(
        "crates/a/src/lib.rs",
        "mod one;\nmod two {\n    mod three;\n    #[test]\n    fn inline() {}\n}\n#[test]\nfn outside() {}\n",
    );
    write(
        "crates/a/src/one.rs",
        "mod four;\n#[test]\nfn first() {}\nfn no_test() {}\n#[test]\n#[ignore]\nfn never() {}",
    );
    write("crates/a/src/one/four.rs", "#[tokio::test]\nasync fn later() {}");
    write("crates/a/src/two/three.rs", "proptest! {\n    #[test]\n    fn property(f in any::<fn()>()) {}\n}");
    write("crates/a/tests/whole/main.rs", "mod part;");
    write("crates/a/tests/whole/part.rs", "#[test]\nfn of_a_part() {}");
    write("crates/a/tests/single.rs", "#[test]\nfn alone() {}");
    write("tests/Cargo.toml", "[package]\nname = \"pg-tests\"\n");
    write("tests/inner/Cargo.toml", "[package]\nname = \"pg-inner\"\n");
    write("tests/inner/src/lib.rs", "#[test]\nfn of_a_package_among_the_tests() {}");
    write("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n");
    write("xtask/src/main.rs", "#[test]\nfn of_the_command() {}");
    write("tests/independent/walk_x.py", "@walk.step\ndef walked(sandbox):\n    pass\n\n\ndef helper():\n    pass\n");
    let found: Vec<String> = names(copy.path()).into_iter().collect();
    let expected = [
        "pg-a::one::first",
        "pg-a::one::four::later",
        "pg-a::outside",
        "pg-a::single::alone",
        "pg-a::two::inline",
        "pg-a::two::three::property",
        "pg-a::whole::part::of_a_part",
        "pg-inner::of_a_package_among_the_tests",
        "tests/independent/walk_x.py::walked",
        "xtask::of_the_command",
    ];
    assert_eq!(found, expected);
}
