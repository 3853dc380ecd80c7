//! The Rust files of `pg-sandbox`: the codes that it invents, and the numbers of assumptions. No other crate has them.

use super::{
    super::{
        names::{self, literal},
        tables::{Code, CodeTable, Tables},
    },
    codes, with_header,
};

/// All files by their path below `generated/` of `pg-sandbox`, not yet formatted.
pub(in super::super) fn generate(tables: &Tables) -> Vec<(String, String)> {
    let root = "pub(crate) mod assumed;\npub mod codes;\n";
    vec![
        ("mod.rs".to_owned(), with_header("What follows from the tables.", root)),
        ("assumed.rs".to_owned(), with_header("The numbers of assumptions, by their titles.", &assumed(tables))),
        ("codes.rs".to_owned(), with_header("Codes that the sandbox invents.", &invented(tables))),
    ]
}

fn assumed(tables: &Tables) -> String {
    let constants = tables
        .assumptions
        .iter()
        .map(|row| format!("pub(crate) const {}: u16 = {};\n", names::constant(&row.title), row.number));
    let attribute = "#![expect(dead_code, reason = \"other crates make some of the assumptions\")]\n\n";
    format!("{attribute}{}", constants.collect::<String>())
}

fn invented(tables: &Tables) -> String {
    let uses = "use pg_model::Remedy;\n\nuse crate::invented::{Facts, facts, known};\n\n";
    uses.to_owned() + &tables.codes.iter().filter(|table| table.is_invented()).map(table).collect::<String>()
}

fn table(table: &CodeTable) -> String {
    format!(
        "/// {doc} (spec {source})\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub struct {name}(&'static Facts);\n\n\
         facts!({name});\n\n\
         impl {name} {{\n{constants}{known}}}\n\n",
        name = table.name,
        doc = table.doc,
        source = table.source,
        constants = table.codes.iter().map(constant).collect::<String>(),
        known = codes::known(table),
    )
}

fn constant(code: &Code) -> String {
    let number = code.assumption.unwrap_or_default();
    let error = match (code.http, &code.remedy) {
        (Some(http), Some(remedy)) => format!(".error({http}, Remedy::{})", codes::variant(remedy)),
        _ => String::new(),
    };
    format!(
        "/// `{}`: {} (spec {}, assumption A{number:02})\npub const {}: Self = Self(&Facts::status({}, {}, {number}, {}){error});\n",
        code.code,
        code.doc,
        code.source,
        code.name,
        literal(&code.code),
        literal(&code.situation()),
        literal(&code.message),
    )
}
