//! Newtypes of keys and references, the register of assumptions, and the situations of dialects.

use super::super::{
    names::literal,
    tables::{Assumption, Tables},
};

pub(super) fn generate(tables: &Tables) -> String {
    let mut text = String::from("use alloc::string::String;\n\nuse crate::text::text_traits;\n");
    for newtype in &tables.types {
        let name = &newtype.name;
        text += &format!(
            "\n/// {} (spec {})\n#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(String);\n\n\
             text_traits!({name}: String);\n",
            newtype.doc, newtype.source
        );
    }
    text
}

/// Every assumption, to name or explain it.
pub(super) fn assumptions(tables: &Tables) -> String {
    let rows: String = tables.assumptions.iter().map(assumption).collect();
    format!(
        "use crate::assumption::Assumption;\n\n\
         /// Every entry of `docs/reference/assumptions.md`, in ascending order of the numbers.\n\
         pub static ASSUMPTIONS: &[Assumption] = &[{rows}];\n"
    )
}

/// The situations of dialect entries: events with a code of the sandbox and none in the documents.
pub(super) fn situations(tables: &Tables) -> String {
    let kinds = [("SandboxStatusCode", "decline"), ("SandboxErrorCode", "error")];
    let rows = kinds.iter().flat_map(|(table, kind)| {
        let codes = tables.code_table(table).map(|table| &table.codes[..]).unwrap_or_default();
        codes.iter().map(move |code| {
            let number = code.assumption.unwrap_or_default();
            format!("Situation::{kind}({}, {number}, {}),\n", literal(&code.situation()), literal(&code.doc))
        })
    });
    format!(
        "use crate::dialect::Situation;\n\n\
         /// Every situation that an entry of a [`Dialect`](crate::Dialect) can name.\n\
         pub static SITUATIONS: &[Situation] = &[{}];\n",
        rows.collect::<String>()
    )
}

fn assumption(row: &Assumption) -> String {
    let texts = [
        ("area", &row.area),
        ("title", &row.title),
        ("open", &row.open),
        ("chosen", &row.chosen),
        ("why", &row.why),
        ("change", &row.change),
    ];
    let texts: String = texts.iter().map(|(name, text)| format!("{name}: {},\n", literal(text))).collect();
    let question = row.question.as_ref().map_or_else(|| "None".to_owned(), |text| format!("Some({})", literal(text)));
    format!("Assumption {{ number: {}, {texts} question: {question} }},\n", row.number)
}
