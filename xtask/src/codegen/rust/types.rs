//! Newtypes of keys and references, and the situations of dialects.

use super::{
    super::{names::literal, tables::Tables},
    PRELUDE,
};

pub(super) fn generate(tables: &Tables) -> String {
    let mut text = String::from(PRELUDE);
    for newtype in &tables.types {
        let name = &newtype.name;
        text += &format!(
            "/// {} (spec {})\n#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(String);\n\n\
             text_traits!({name}: String);\n\n",
            newtype.doc, newtype.source
        );
    }
    text
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
