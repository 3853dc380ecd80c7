//! The list as it stands in `tests/coverage/`: what the documents hold, and which test shows what.

use std::{fs, path::Path};

use super::super::{
    place::{Place, Problems},
    reading::{self, Row as Source},
    tables::Credentials,
};

/// Where the list is.
pub(in super::super) const FOLDER: &str = "tests/coverage";
/// The sections of the documents and their tables.
const CONTENTS: &str = "tests/coverage/contents";
/// Tests of what stands in the tables of this project.
const OF_TABLES: &str = "tests/coverage/tables";
/// Everything else that the documents say, one file a document.
const STATEMENTS: [&str; 3] = ["tests/coverage/document_1", "tests/coverage/document_2", "tests/coverage/document_3"];

#[derive(Default)]
pub(super) struct List {
    pub(super) sections: Vec<Section>,
    pub(super) statements: Vec<Statement>,
    pub(super) of_tables: OfTables,
}

/// A section of the documents that has content.
pub(super) struct Section {
    pub(super) place: Place,
    /// Document and section, as in `1 §2.1`.
    pub(super) at: String,
    pub(super) title: String,
    pub(super) tables: Vec<DocumentTable>,
    /// The assumptions that close what the section leaves open.
    pub(super) open: Vec<String>,
}

/// A table of the documents.
pub(super) struct DocumentTable {
    pub(super) place: Place,
    pub(super) name: String,
    /// How many rows the document gives it, one for each name where several share a line.
    pub(super) rows: usize,
    /// Which rows of this project's tables hold it, such as `record Card`; where there are none, statements do.
    pub(super) from: Vec<String>,
}

/// Something that a document says.
pub(super) struct Statement {
    pub(super) place: Place,
    pub(super) at: String,
    /// The table of the document that it is a row of.
    pub(super) table: Option<String>,
    pub(super) what: String,
    pub(super) assumptions: Vec<String>,
    pub(super) shown: Shown,
}

/// How something is shown: by tests, or by nothing, and why.
#[derive(Clone, Default)]
pub(super) struct Shown {
    pub(super) tests: Vec<String>,
    pub(super) not_testable: Option<String>,
}

/// What shows the rows of this project's tables.
#[derive(Default)]
pub(super) struct OfTables {
    /// Tests that keep the rules of every parameter, by the credentials of its method.
    pub(super) parameter_rules: Vec<(Credentials, Shown)>,
    /// Tests that see every field of every reply.
    pub(super) field_rules: Vec<Shown>,
    /// Tests of a method, or of a code; the key is as `from` and the code make it, such as `codes ErrorCode 101`.
    pub(super) single: Vec<(Place, String, Shown)>,
}

/// Reads the list below the root. Mistakes are noted.
pub(super) fn load(root: &Path, problems: &mut Problems) -> List {
    let mut list = List::default();
    let mut read = |file: &'static str, take_in: &mut dyn FnMut(&Source<'_>)| {
        let place = Place { file, line: 1, column: 1 };
        match fs::read_to_string(root.join(format!("{file}.toml"))) {
            Ok(text) => drop(reading::file(file, &text, problems, take_in)),
            Err(error) => problems.push(place, format!("cannot be read: {error}")),
        }
    };
    read(CONTENTS, &mut |row| list.sections = row.rows("section", Section::read));
    read(OF_TABLES, &mut |row| list.of_tables = OfTables::read(row));
    for file in STATEMENTS {
        read(file, &mut |row| list.statements.extend(row.rows("statements", Statement::read)));
    }
    list
}

impl Section {
    fn read(row: &Source<'_>) -> Self {
        Self {
            at: row.text("at"),
            title: row.text("title"),
            tables: row.rows("tables", DocumentTable::read),
            open: row.texts("open"),
            place: row.places().row,
        }
    }
}

impl DocumentTable {
    fn read(row: &Source<'_>) -> Self {
        Self { name: row.text("name"), rows: row.number("rows"), from: row.texts("from"), place: row.places().row }
    }
}

impl Statement {
    fn read(row: &Source<'_>) -> Self {
        Self {
            at: row.text("at"),
            table: row.maybe_text("table"),
            what: row.text("what"),
            assumptions: row.texts("assumptions"),
            shown: Shown::read(row),
            place: row.places().row,
        }
    }
}

impl Shown {
    fn read(row: &Source<'_>) -> Self {
        Self { tests: row.texts("tests"), not_testable: row.maybe_text("not_testable") }
    }

    /// Whether exactly one of the two ways is taken.
    pub(super) fn is_decided(&self) -> bool {
        self.tests.is_empty() == self.not_testable.is_some()
    }
}

impl OfTables {
    fn read(row: &Source<'_>) -> Self {
        const CREDENTIALS: &[(&str, Credentials)] = &[
            ("signed", Credentials::Signed),
            ("session", Credentials::Session),
            ("enterprise", Credentials::Enterprise),
        ];
        let mut single =
            row.rows("methods", |row| (row.places().row, format!("method {}", row.text("method")), Shown::read(row)));
        single.extend(row.rows("codes", |row| {
            let key = format!("codes {} {}", row.text("table"), row.text("code"));
            (row.places().row, key, Shown::read(row))
        }));
        Self {
            parameter_rules: row
                .rows("parameter_rules", |row| (row.choice("credentials", CREDENTIALS), Shown::read(row))),
            field_rules: row.rows("field_rules", Shown::read),
            single,
        }
    }
}
