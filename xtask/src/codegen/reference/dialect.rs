//! The page of dialects: every situation that an entry can name.

use super::{
    super::tables::{CodeTable, Tables},
    markdown::{assumption, code, table, text},
};

const INTRODUCTION: &str = "# Situations of dialects\n\n\
    What can happen for which the documents name no code. An entry of a [dialect](../guide/dialects.md) names them in `situations`,\n\
    and says by that which code its service gives them. A client needs `unknown-transaction-key`; a sandbox that speaks the dialect\n\
    uses all of them, and its own code where the dialect has none.\n\n";

pub(super) fn page(tables: &Tables) -> String {
    let mut page = INTRODUCTION.to_owned();
    for (name, title) in [("SandboxStatusCode", "Declines"), ("SandboxErrorCode", "Errors")] {
        if let Some(codes) = tables.code_table(name) {
            page += &section(title, codes);
        }
    }
    page
}

fn section(title: &str, codes: &CodeTable) -> String {
    let rows = codes.codes.iter().map(|row| {
        let basis = row.assumption.map_or_else(String::new, assumption);
        vec![code(&row.situation()), text(&row.doc), code(&row.code), basis]
    });
    format!("## {title}\n\n{}\n", table(&["Situation", "Meaning", "The sandbox's code", "Assumption"], rows))
}
