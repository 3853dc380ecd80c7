//! Newtypes of keys and references, and the register of assumptions.

use super::super::{names::literal, tables::Tables};

pub(super) fn generate(tables: &Tables) -> String {
    let mut text = String::from("use alloc::{borrow::Cow, string::String};\n\nuse crate::text::text_traits;\n");
    for newtype in &tables.types {
        let name = &newtype.name;
        text += &format!(
            "\n/// {} (spec {})\n#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(String);\n\n\
             text_traits!({name});\n\n\
             impl From<Cow<'_, str>> for {name} {{\nfn from(text: Cow<'_, str>) -> Self {{\nSelf(text.into_owned())\n}}\n}}\n",
            newtype.doc, newtype.source
        );
    }
    text
}

/// Number and title of every assumption, for whoever has to name one.
pub(super) fn assumptions(tables: &Tables) -> String {
    let rows: String = tables
        .assumptions
        .iter()
        .map(|assumption| format!("({}, {}),\n", assumption.number, literal(&assumption.title)))
        .collect();
    format!(
        "/// Number and title of every entry of `docs/assumptions.md`, in ascending order.\n\
         pub static ASSUMPTIONS: &[(u16, &str)] = &[{rows}];\n"
    )
}
