//! The Rust files of `pg-sandbox`: the codes that it invents, and the register of assumptions. No other crate has them.

use super::{
    super::{
        names::{self, literal},
        tables::{Code, CodeTable, Tables},
    },
    codes, types, with_header,
};

/// All files by their path below `generated/` of `pg-sandbox`, not yet formatted.
pub(in super::super) fn generate(tables: &Tables) -> Vec<(String, String)> {
    let root = "pub(crate) mod assumed;\npub(crate) mod assumptions;\npub mod codes;\n";
    vec![
        ("mod.rs".to_owned(), with_header("What follows from the tables.", root)),
        ("assumed.rs".to_owned(), with_header("The numbers of assumptions, by their titles.", &assumed(tables))),
        ("assumptions.rs".to_owned(), with_header("Assumptions.", &types::assumptions(tables))),
        ("codes.rs".to_owned(), with_header("Codes that the sandbox invents.", &invented(tables))),
    ]
}

fn assumed(tables: &Tables) -> String {
    let constants = tables.assumptions.iter().map(|row| {
        let (number, title) = (row.number, &row.title);
        format!("/// A{number:02}: {title}.\npub(crate) const {}: u16 = {number};\n\n", names::constant(title))
    });
    let attribute = "#![expect(dead_code, reason = \"other crates make some of the assumptions\")]\n\n";
    format!("{attribute}{}", constants.collect::<String>())
}

fn invented(tables: &Tables) -> String {
    tables.codes.iter().filter(|table| table.is_invented()).map(table).collect()
}

fn table(table: &CodeTable) -> String {
    let name = &table.name;
    let constants: String = table.codes.iter().map(constant).collect();
    let known: Vec<String> = table.codes.iter().map(|code| format!("Self::{}", code.name)).collect();
    let situations = table.codes.iter().map(|code| Some((code, literal(&code.situation()))));
    let situation =
        codes::lookup("Its situation, by which entries of dialects name it.", "situation", "&'static str", situations);
    format!(
        "/// {doc}\n///\n/// Source: spec {source}.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub struct {name}(&'static str);\n\n\
         impl {name} {{\n{constants}/// All codes of the table.\npub const KNOWN: &'static [Self] = &[{known}];\n\n\
         /// The code as the sandbox sends it by default.\n#[must_use]\npub const fn as_str(&self) -> &'static str {{\nself.0\n}}\n\n\
         {message}{situation}{facts}}}\n\n",
        doc = table.doc,
        source = table.source,
        known = known.join(", "),
        message = codes::message(table),
        facts = codes::facts(table, "pg_model::Remedy"),
    )
}

fn constant(code: &Code) -> String {
    let basis = code.assumption.map_or_else(String::new, |number| format!(", assumption A{number:02}"));
    format!(
        "/// `{}`: {} (spec {}{basis})\npub const {}: Self = Self({});\n",
        code.code,
        code.doc,
        code.source,
        code.name,
        literal(&code.code)
    )
}
