//! Newtypes of keys and references, and the register of assumptions.

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

/// Every assumption, for whoever has to name or explain one.
pub(super) fn assumptions(tables: &Tables) -> String {
    let rows: String = tables.assumptions.iter().map(assumption).collect();
    format!(
        "use crate::assumption::Assumption;\n\n\
         /// Every entry of `docs/assumptions.md`, in ascending order of the numbers.\n\
         pub static ASSUMPTIONS: &[Assumption] = &[{rows}];\n"
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
    format!("Assumption {{ number: {}, {texts} }},\n", row.number)
}
