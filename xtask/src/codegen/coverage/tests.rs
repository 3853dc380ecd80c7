//! The list is complete, and its checks report every mistake.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{
        TABLES,
        place::{Place, Problems, allowed},
        tables::{self, Tables},
    },
    check, citations,
    comments::{self, Comment},
    entries,
    list::{self, DocumentTable, List, Section},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn real() -> (List, Tables) {
    let mut problems = Problems::default();
    let tables = tables::load(&root().join(TABLES), &mut problems).unwrap();
    let list = list::load(&root(), &mut problems);
    check::check(&list, &tables, &mut problems);
    problems.into_result().unwrap();
    (list, tables)
}

fn names(root: &Path) -> BTreeSet<String> {
    comments::of_workspace(root).tests.into_iter().map(|test| test.name).collect()
}

/// A scan that finds too little would leave facts out of the page; `real` panics on facts without a test.
#[test]
fn every_test_of_the_workspace_is_found() {
    let ((list, _), tests) = (real(), names(&root()).len());
    assert!(tests > 1900, "only {tests} tests were found");
    assert!(list.statements.len() > 350, "only {} statements were found", list.statements.len());
}

/// Every promised protection names an existing test.
#[test]
fn the_tests_of_the_threat_model_exist() {
    let page = fs::read_to_string(root().join("docs/internals/threat-model.md")).unwrap();
    let existing = names(&root());
    let words = |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for word in words(&page).iter().filter(|word| word.contains("::") && !word.contains("PACKAGE")) {
        let template = *word == "package::target::module::function";
        // Looking for what was meant takes long, so only where something is wrong.
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

/// Every attack that the threat model names exists.
#[test]
fn the_attacks_of_the_threat_model_exist() {
    let page = fs::read_to_string(root().join("docs/internals/threat-model.md")).unwrap();
    let attacks: String = fs::read_dir(root().join("tests/src/bin/attack"))
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap().to_lowercase())
        .collect();
    let named: Vec<&str> = page.split("--only \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(named.len() > 10, "{named:?}");
    for words in named {
        assert!(attacks.contains(words.trim_end_matches(':')), "there is no attack {words:?}");
    }
}

/// Each assumption is named by code and shown by a test.
#[test]
fn every_assumption_is_named_by_code_and_shown_by_a_test() {
    let (list, tables) = real();
    let cited = citations::of_workspace(&root(), &tables);
    let registered: BTreeSet<u16> = tables.assumptions.iter().map(|assumption| assumption.number).collect();
    for (number, files) in &cited {
        assert!(registered.contains(number), "A{number:02} is not in the register, but in {files:?}");
    }
    let rows = entries::all(&tables, &list.of_tables).into_iter().filter_map(|entry| entry.assumption);
    let cited_by_tests = list.statements.iter().chain(&list.cited).flat_map(|one| one.assumptions.iter().copied());
    let shown: BTreeSet<u16> = cited_by_tests.chain(rows).collect();
    let missing = |there: &dyn Fn(&u16) -> bool| -> Vec<String> {
        registered.iter().filter(|number| !there(number)).map(|number| format!("A{number:02}")).collect()
    };
    let uncited = missing(&|number| cited.contains_key(number));
    assert!(uncited.is_empty(), "no code names {uncited:?}");
    let unshown = missing(&|number| shown.contains(number));
    assert!(unshown.is_empty(), "no row of the coverage names {unshown:?}");
}

fn place() -> Place {
    Place { file: "tests/coverage/x", line: 1, column: 1 }
}

/// What tests say in their comments.
fn saying(comments: &[&str]) -> List {
    let mut list = List::default();
    for (line, text) in (1..).zip(comments) {
        let comment = Comment { file: "tests/x.rs".into(), line, text: (*text).to_owned() };
        list.add(&comment, "a::b");
    }
    list
}

fn section(tables: Vec<DocumentTable>) -> Section {
    let (at, title) = ("1 §1".to_owned(), "What it does".to_owned());
    Section { place: place(), at, title, tables, open: Vec::new(), not_testable: Vec::new() }
}

fn document_table(rows: usize, from: &[&str]) -> DocumentTable {
    let from = from.iter().map(|from| (*from).to_owned()).collect();
    DocumentTable { place: place(), name: "rows".to_owned(), rows, from }
}

/// The messages of the check about a list.
fn told(list: &List) -> String {
    let tables = tables::load(&root().join(TABLES), &mut Problems::default()).unwrap();
    let mut problems = Problems::default();
    check::check(list, &tables, &mut problems);
    problems.into_result().unwrap_err().to_string()
}

#[test]
fn a_comment_says_a_clause_a_sentence_or_rows() {
    let list = saying(&[
        "1 §1 rows, A07, A12: What it says: all; of it.",
        "1 §1; 2 §4.2, A30; codes ErrorCode 101 102; method token/lookup; parameters signed session; fields",
    ]);
    let [said] = &list.statements[..] else { panic!("{} statements", list.statements.len()) };
    assert_eq!((said.at.as_str(), said.table.as_deref(), &said.assumptions[..]), ("1 §1", Some("rows"), &[7, 12][..]));
    assert_eq!(said.what, "What it says: all; of it.");
    let cited: Vec<_> = list.cited.iter().map(|one| (one.at.as_str(), &one.assumptions[..])).collect();
    assert_eq!(cited, [("1 §1", &[][..]), ("2 §4.2", &[30][..])]);
    let keys: Vec<&str> = list.of_tables.keys().map(String::as_str).collect();
    let codes = ["codes ErrorCode 101", "codes ErrorCode 102"];
    assert_eq!(
        keys,
        [&codes[..], &["fields", "method token/lookup", "parameters session", "parameters signed"]].concat()
    );
}

/// A comment above something else, or above a test that never runs, would have no effect.
#[test]
fn a_spec_comment_without_a_test_is_reported() {
    let copy = tempfile::tempdir().unwrap();
    let package = copy.path().join("crates/a");
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), "[package]\nname = \"pg-a\"\n").unwrap();
    let lines = [
        "// spec: 1 §1: Of",
        "//   two lines.",
        "/// Why.",
        "#[test]",
        "fn first() {}",
        "// spec: 1 §2",
        "fn none() {}",
    ];
    let more = ["// spec: 1 §3", "", "#[test]", "// spec: 1 §4", "#[ignore = \"slow\"]", "fn never() {}"];
    fs::write(package.join("src/lib.rs"), [&lines[..], &more[..]].concat().join("\n")).unwrap();
    let mut problems = Problems::default();
    let list = list::load(copy.path(), &mut problems);
    let [said] = &list.statements[..] else { panic!("{} statements", list.statements.len()) };
    assert_eq!((said.what.as_str(), said.test.as_str()), ("Of two lines.", "pg-a::first"));
    let told = problems.into_result().unwrap_err().to_string();
    for (line, text) in [(6, "1 §2"), (8, "1 §3"), (11, "1 §4")] {
        let wrong = format!("crates/a/src/lib.rs:{line}:1: no test is below this comment: {text}");
        assert!(told.contains(&wrong), "{wrong}:\n{told}");
    }
}

#[test]
fn a_missing_row_is_reported() {
    let all = told(&List::default());
    for missing in [
        "method token/lookup is in no table of a section",
        "no test says `// spec: method token/lookup`",
        "parameter transaction/auth itemName{n} is in no table of a section",
        "no test says `// spec: field Card cardNumber`",
        "codes ErrorCode 101 is in no table of a section",
        "no test says `// spec: codes CardRetrievalCode 712`",
    ] {
        assert!(all.contains(missing), "{missing}:\n{all}");
    }
    let mut list = saying(&["method token/lookup"]);
    list.sections.push(section(vec![document_table(1, &["codes ErrorCode 101", "method token/lookup"])]));
    let fewer = told(&list);
    for there in ["method token/lookup is in no", "spec: method token/lookup`", "ErrorCode 101 is in no"] {
        assert!(!fewer.contains(there), "{there}:\n{fewer}");
    }
}

/// The place is that of the section which the row names, as a contributor has to add a line there.
#[test]
fn a_mistake_points_at_its_section() {
    let (mut list, tables) = real();
    let place = |at: &str| list.sections.iter().find(|section| section.at == at).unwrap().place;
    // Three sections share a heading.
    let (lookup, delete) = (place("1 §4.2"), place("1 §4.3"));
    for section in &mut list.sections {
        for table in &mut section.tables {
            table.from.retain(|from| !from.contains("token/lookup") && !from.contains("token/delete"));
            table.rows = 0;
        }
    }
    list.of_tables.remove("method token/delete");
    let mut problems = Problems::default();
    check::check(&list, &tables, &mut problems);
    let told = problems.into_result().unwrap_err().to_string();
    for line in [
        format!("{lookup}: method token/lookup is in no table of a section; its source is 1 §4.2"),
        format!("{lookup}: parameter token/lookup cardKey is in no"),
        format!("{delete}: method token/delete is in no table of a section; its source is 1 §4.5"),
        format!("{delete}: no test says `// spec: method token/delete`"),
    ] {
        assert!(told.contains(&line), "{line}:\n{told}");
    }
}

#[test]
fn missing_rows_of_a_document_table_are_reported() {
    let list = |comments: &[&str], table| List { sections: vec![section(vec![table])], ..saying(comments) };
    let told = |list: List| told(&list);
    let one = ["1 §1 rows: x"];
    let missing = told(list(&one, document_table(2, &[])));
    assert!(missing.contains("x.toml:1:1: 1 §1 has 2 rows in \"rows\", 1 are listed"), "{missing}");
    let two = [one[0], "1 §1 rows: y"];
    assert!(!told(list(&two, document_table(2, &[]))).contains("are listed"));
    let eight = &["record Card"];
    assert!(!told(list(&two, document_table(10, eight))).contains("are listed"), "eight fields and two statements");
    assert!(told(list(&two, document_table(11, eight))).contains("has 11 rows in \"rows\", 10 are listed"));
}

#[test]
fn unknown_citations_are_reported() {
    let comments = ["1 §2", "1 §1 row: x", "1 §1, A999", "codes ErrorCode 42", "method token/lokup"];
    let sections = vec![section(vec![document_table(1, &["record Crad"]), document_table(1, &[])])];
    let told = |sections, comments: &[&str]| told(&List { sections, ..saying(comments) });
    let all = told(sections, &comments);
    for wrong in [
        "no record is \"Crad\"; did you mean \"Card\"?",
        "needs rows from tables, or statements",
        "tests/x.rs:1:1: \"1 §2\" is not a section",
        "tests/x.rs:2:1: \"row\" is not a table of 1 §1; did you mean \"rows\"?",
        "tests/x.rs:3:1: A999 is not an assumption",
        "tests/x.rs:4:1: \"codes ErrorCode 42\" is neither a section nor a row of the tables",
        "\"method token/lokup\" is neither a section",
    ] {
        assert!(all.contains(wrong), "{wrong}:\n{all}");
    }
    let open = Section { open: vec!["A59".to_owned()], ..section(Vec::new()) };
    assert!(told(vec![open], &["1 §1: x"]).contains("no statement of 1 §1 shows A59"));
    assert!(told(vec![section(Vec::new())], &[]).contains("nothing is listed of 1 §1 What it does"));
}

#[test]
fn tests_are_found_where_cargo_finds_them() {
    let copy = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = copy.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("crates/a/Cargo.toml", "[package]\nname = \"pg-a\"\n");
    write(
        "crates/a/src/lib.rs",
        "mod one;\nmod two {\n    mod three;\n    #[test]\n    fn inline() {}\n}\n#[cfg(test)]\nmod absent;\n",
    );
    write(
        "crates/a/src/one.rs",
        "mod four;\n#[test]\nfn first() {}\nfn no_test() {}\n#[test]\n#[ignore]\nfn never() {}",
    );
    write("crates/a/src/one/four.rs", "#[tokio::test]\nasync fn later() {}");
    write("crates/a/src/two/three.rs", "proptest! {\n    #[test]\n    fn property(f in any::<fn()>()) {}\n}");
    write("crates/a/src/orphan.rs", "#[test]\nfn nobody_declares_it() {}");
    write("crates/a/tests/whole/main.rs", "mod part;");
    write("crates/a/tests/whole/part.rs", "#[test]\nfn of_a_part() {}");
    write("crates/a/tests/single.rs", "#[path = \"odd/place.rs\"]\nmod named;");
    write("crates/a/tests/odd/place.rs", "#[test]\nfn elsewhere() {}");
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
        "pg-a::single::named::elsewhere",
        "pg-a::two::inline",
        "pg-a::two::three::property",
        "pg-a::whole::part::of_a_part",
        "pg-inner::of_a_package_among_the_tests",
        "tests/independent/walk_x.py::walked",
        "xtask::of_the_command",
    ];
    assert_eq!(found, expected);
}
