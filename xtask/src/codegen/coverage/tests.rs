//! The list is whole and true; and the checks of it can fail.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{
        TABLES,
        check::mentioned_assumptions,
        place::{Place, Problems, allowed},
        tables::{self, Tables},
    },
    check, citations, entries,
    list::{self, DocumentTable, List, Section, Shown, Statement},
    test_names,
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

/// The tests that a list names, each with the place where it does.
fn named(list: &List) -> Vec<(String, &Shown)> {
    let of_statements = list.statements.iter().map(|one| (format!("{}: {}", one.place, one.what), &one.shown));
    let of_tables = &list.of_tables;
    let rules = of_tables.parameter_rules.iter().map(|(_, shown)| shown).chain(&of_tables.field_rules);
    let rules = rules.map(|shown| ("a rule of tests/coverage/tables.toml".to_owned(), shown));
    let single = of_tables.single.iter().map(|(place, key, shown)| (format!("{place}: {key}"), shown));
    of_statements.chain(rules).chain(single).collect()
}

/// Names of tests that do not exist, one a line.
fn strangers(list: &List, existing: &BTreeSet<String>) -> Vec<String> {
    let named = named(list);
    let all = named.iter().flat_map(|(place, shown)| shown.tests.iter().map(move |test| (place, test)));
    all.filter(|(_, test)| !existing.contains(*test))
        .map(|(place, test)| format!("{place}: no test is {test}"))
        .collect()
}

/// Nothing is left out either: `real` would not come back.
#[test]
fn every_named_test_exists() {
    let (list, _) = real();
    let existing = test_names::of_workspace(&root());
    assert!(existing.len() > 900, "only {} tests were found", existing.len());
    let strangers = strangers(&list, &existing);
    assert!(strangers.is_empty(), "{}", strangers.join("\n"));
}

/// A protection that is promised is shown, for every attacker.
#[test]
fn the_tests_of_the_threat_model_exist() {
    let page = fs::read_to_string(root().join("docs/internals/threat-model.md")).unwrap();
    let existing = test_names::of_workspace(&root());
    let words = |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for word in words(&page).iter().filter(|word| word.contains("::") && !word.contains("PACKAGE")) {
        let template = *word == "package::target::module::function";
        // Looking for what was meant takes long, so only where something is wrong.
        let hint = || allowed(word, existing.iter().map(String::as_str));
        assert!(
            template || existing.contains(word),
            "docs/internals/threat-model.md names {word}, which is no test{}",
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

/// Whatever the threat model tells to run is an attack that there is.
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

/// Wherever a document leaves something open, there is an assumption, the code names it, and a test shows it.
#[test]
fn every_assumption_is_named_by_code_and_shown_by_a_test() {
    let (list, tables) = real();
    let cited = citations::of_workspace(&root());
    let registered: BTreeSet<u16> = tables.assumptions.iter().map(|assumption| assumption.number).collect();
    for (number, files) in &cited {
        assert!(registered.contains(number), "A{number:02} is not in the register, but in {files:?}");
    }
    let rows = entries::all(&tables, &list.of_tables).into_iter().filter_map(|entry| entry.assumption);
    let of_statements = list.statements.iter().flat_map(|one| &one.assumptions);
    let shown: BTreeSet<u16> = of_statements.flat_map(|word| mentioned_assumptions(word)).chain(rows).collect();
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

fn by(tests: &[&str]) -> Shown {
    Shown { tests: tests.iter().map(|test| (*test).to_owned()).collect(), not_testable: None }
}

fn statement(at: &str, table: Option<&str>, shown: Shown) -> Statement {
    let table = table.map(str::to_owned);
    Statement { place: place(), at: at.to_owned(), table, what: "x".to_owned(), assumptions: Vec::new(), shown }
}

fn section(tables: Vec<DocumentTable>) -> Section {
    Section { place: place(), at: "1 §1".to_owned(), title: "What it does".to_owned(), tables, open: Vec::new() }
}

fn document_table(rows: usize, from: &[&str]) -> DocumentTable {
    let from = from.iter().map(|from| (*from).to_owned()).collect();
    DocumentTable { place: place(), name: "rows".to_owned(), rows, from }
}

/// What the check tells of a list.
fn told(list: &List) -> String {
    let tables = tables::load(&root().join(TABLES), &mut Problems::default()).unwrap();
    let mut problems = Problems::default();
    check::check(list, &tables, &mut problems);
    problems.into_result().unwrap_err().to_string()
}

#[test]
fn a_test_that_is_not_there_is_told() {
    let mut list = List { statements: vec![statement("1 §1", None, by(&["a::b", "a::c"]))], ..List::default() };
    list.of_tables.single.push((place(), "codes ErrorCode 101".to_owned(), by(&["a::d"])));
    let existing = BTreeSet::from(["a::b".to_owned(), "a::d".to_owned()]);
    assert_eq!(strangers(&list, &existing), ["tests/coverage/x.toml:1:1: x: no test is a::c"]);
    list.of_tables.single[0].2 = by(&["a::e"]);
    assert_eq!(strangers(&list, &existing).len(), 2);
}

#[test]
fn a_row_that_is_left_out_is_told() {
    let mut list = List::default();
    let all = told(&list);
    for missing in [
        "method token/lookup stands in no table of a section",
        "no test is named for method token/lookup",
        "parameter transaction/auth itemName{n} stands in no table of a section",
        "no test is named for field Card cardNumber",
        "codes ErrorCode 101 stands in no table of a section",
        "no test is named for codes CardRetrievalCode 712",
    ] {
        assert!(all.contains(missing), "{missing}:\n{all}");
    }
    list.sections.push(section(vec![document_table(1, &["codes ErrorCode 101", "method token/lookup"])]));
    list.of_tables.single.push((place(), "method token/lookup".to_owned(), by(&["a::b"])));
    let fewer = told(&list);
    for there in ["method token/lookup", "ErrorCode 101 stands"] {
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
    list.of_tables.single.retain(|(_, key, _)| key != "method token/delete");
    let mut problems = Problems::default();
    check::check(&list, &tables, &mut problems);
    let told = problems.into_result().unwrap_err().to_string();
    for line in [
        format!("{lookup}: method token/lookup stands in no table of a section; 1 §4.2 is its source"),
        format!("{lookup}: parameter token/lookup cardKey stands in no"),
        format!("{delete}: method token/delete stands in no table of a section; 1 §4.5 is its source"),
        format!("{delete}: no test is named for method token/delete in tests/coverage/tables.toml"),
    ] {
        assert!(told.contains(&line), "{line}:\n{told}");
    }
}

#[test]
fn a_table_of_a_document_with_rows_missing_is_told() {
    let mut list = List { sections: vec![section(vec![document_table(2, &[])])], ..List::default() };
    list.statements.push(statement("1 §1", Some("rows"), by(&["a::b"])));
    assert!(told(&list).contains("x.toml:1:1: 1 §1 has 2 rows in \"rows\", 1 are listed"), "{}", told(&list));
    list.statements.push(statement("1 §1", Some("rows"), by(&["a::b"])));
    assert!(!told(&list).contains("are listed"));
    list.sections[0].tables[0] = document_table(10, &["record Card"]);
    assert!(!told(&list).contains("are listed"), "eight fields and two statements");
    list.sections[0].tables[0] = document_table(11, &["record Card"]);
    assert!(told(&list).contains("has 11 rows in \"rows\", 10 are listed"));
}

#[test]
fn what_leads_nowhere_is_told() {
    let list = List {
        sections: vec![section(vec![document_table(1, &["record Crad"]), document_table(1, &[])])],
        statements: vec![
            statement("1 §2", None, by(&["a::b"])),
            statement("1 §1", Some("row"), by(&["a::b"])),
            statement("1 §1", None, Shown::default()),
            Statement { assumptions: vec!["A999".to_owned()], ..statement("1 §1", None, by(&["a::b"])) },
        ],
        of_tables: list::OfTables {
            single: vec![(place(), "codes ErrorCode 42".to_owned(), by(&["a::b"]))],
            ..list::OfTables::default()
        },
    };
    let told = told(&list);
    for wrong in [
        "no record is \"Crad\"; did you mean \"Card\"?",
        "needs rows from tables, or statements",
        "\"1 §2\" is no section",
        "\"row\" is no table of 1 §1; did you mean \"rows\"?",
        "x: name its tests, or say why it is not_testable",
        "\"A999\" is no assumption",
        "no row of the tables is \"codes ErrorCode 42\"",
    ] {
        assert!(told.contains(wrong), "{wrong}:\n{told}");
    }
    let open = Section { open: vec!["A59".to_owned()], ..section(Vec::new()) };
    let list =
        List { sections: vec![open], statements: vec![statement("1 §1", None, by(&["a::b"]))], ..List::default() };
    assert!(self::told(&list).contains("no statement of 1 §1 shows A59"));
    let empty = List { sections: vec![section(Vec::new())], ..List::default() };
    assert!(self::told(&empty).contains("nothing is listed of 1 §1 What it does"));
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
    write("crates/a/src/lib.rs", "mod one;\nmod two { mod three; #[test] fn inline() {} }\n#[cfg(test)] mod absent;\n");
    write("crates/a/src/one.rs", "mod four; #[test] fn first() {} fn no_test() {} #[test] #[ignore] fn never() {}");
    write("crates/a/src/one/four.rs", "#[tokio::test]\nasync fn later() {}");
    write("crates/a/src/two/three.rs", "proptest! {\n #[test]\n fn property(f in any::<fn()>()) { } }");
    write("crates/a/src/orphan.rs", "#[test] fn nobody_declares_it() {}");
    write("crates/a/tests/whole/main.rs", "mod part;");
    write("crates/a/tests/whole/part.rs", "#[test] fn of_a_part() {}");
    write("crates/a/tests/single.rs", "#[path = \"odd/place.rs\"] mod named;");
    write("crates/a/tests/odd/place.rs", "#[test] fn elsewhere() {}");
    write("tests/Cargo.toml", "[package]\nname = \"pg-tests\"\n");
    write("tests/inner/Cargo.toml", "[package]\nname = \"pg-inner\"\n");
    write("tests/inner/src/lib.rs", "#[test] fn of_a_package_among_the_tests() {}");
    write("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n");
    write("xtask/src/main.rs", "#[test] fn of_the_command() {}");
    write("tests/independent/walk_x.py", "@walk.step\ndef walked(sandbox):\n    pass\n\n\ndef helper():\n    pass\n");
    let found: Vec<String> = test_names::of_workspace(copy.path()).into_iter().collect();
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

#[test]
fn citations_are_found_in_words_and_in_code() {
    let text = "/// See A59, rule 3.\nbasis.assume(7);\n[30, 105].into_iter().for_each(|number| assume(number));\n\
        let a = 12; // assumption 96 of 400\n//! as told (assumptions 73 to 75, and 80 and 81) of 44\n\
        { code = \"901\", assumption = 87, http = 200 }\nan assumed 55, A999";
    assert_eq!(citations::cited(text), BTreeSet::from([7, 30, 59, 73, 74, 75, 80, 81, 87, 96, 105]));
}
