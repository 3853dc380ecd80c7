//! The page of codes: open tables, and the currencies. The page of dialects: every situation that an entry can name.

use super::{
    super::tables::{Code, CodeTable, Tables},
    markdown::{anchor, assumption, code, table, text},
};

const INTRODUCTION: &str = "# Codes\n\n\
    The values that the documents know. In Rust each table is an open type with a constant for each row: a code that is\n\
    none of them survives as it came. Codes from 900 to 999 are the sandbox's own, so that they are not mistaken for the\n\
    service's; each names the assumption that it comes from.\n\n\
    What a remedy asks for:\n\n\
    - `fix-request`: the request is wrong, and changed nothing. A payment that is refused may have used its\n  \
      `uniqueMerchantReference` up all the same: the corrected one takes a new reference, after whatever was sent under the old\n  \
      one without an answer was looked up.\n\
    - `fix-credentials`: send nothing until the credentials are right, since failures lock the address out.\n\
    - `wait-one-minute`, `wait-five-minutes`: the service did not look at the request; send the same one again then.\n\
    - `retry`: try again later, a payment only after it was looked up and under the same reference.\n\
    - `look-up`: what was asked for may have been done, by this request or an earlier one. Look it up. A payment never takes a new\n  \
      reference before that: it would be a second payment.\n\
    - `ask-operator`: quote the trace code.\n\n\
    A code of a payment that no table knows is looked up too: the documents name no code for a reference that was used.\n\n";

pub(super) fn page(tables: &Tables) -> String {
    let mut names: Vec<(&str, &str)> =
        tables.codes.iter().map(|table| (table.name.as_str(), table.doc.as_str())).collect();
    names.push(("Currency", "Currencies of ISO 4217."));
    let rows = names.iter().map(|(name, doc)| vec![format!("[{name}](#{})", anchor(name)), text(doc)]);
    let mut page = INTRODUCTION.to_owned() + &table(&["Table", "What it is"], rows);
    for codes in &tables.codes {
        page += &section(codes);
    }
    page + &currencies(tables)
}

/// A column that a table has only if one of its rows fills it.
type Column = (&'static str, fn(&Code) -> Option<String>);

const COLUMNS: &[Column] = &[
    ("Remedy", |row| row.remedy.clone()),
    ("HTTP", |row| row.http.map(|status| status.to_string())),
    ("Assumption", |row| row.assumption.map(assumption)),
];

fn section(codes: &CodeTable) -> String {
    let columns: Vec<&Column> =
        COLUMNS.iter().filter(|(_, cell)| codes.codes.iter().any(|row| cell(row).is_some())).collect();
    let mut heads = vec!["Code", "Constant", "Message"];
    heads.extend(columns.iter().map(|(head, _)| *head));
    heads.extend(["Meaning", "Source"]);
    let rows = codes.codes.iter().map(|row| {
        let mut cells = vec![code(&row.code), code(&row.name), text(&row.message)];
        cells.extend(columns.iter().map(|(_, cell)| cell(row).unwrap_or_else(|| "–".to_owned())));
        cells.extend([text(&row.doc), row.source.clone()]);
        cells
    });
    format!("## {}\n\n{} (spec {})\n\n{}", codes.name, text(&codes.doc), codes.source, table(&heads, rows))
}

fn currencies(tables: &Tables) -> String {
    let rows = tables
        .currencies
        .iter()
        .map(|currency| vec![code(&currency.code), text(&currency.name), currency.exponent.to_string()]);
    format!(
        "## Currency\n\nCurrencies of ISO 4217 and the decimals of each; which of them may be used depends on the account.\n\n{}",
        table(&["Code", "Name", "Decimals"], rows)
    )
}

const SITUATIONS: &str = "# Situations of dialects\n\n\
    What can happen for which the documents name no code. An entry of a [dialect](../guide/dialects.md) names them in `situations`,\n\
    and says by that which code its service gives them. A client needs `unknown-transaction-key`, for `no_card = \"error\"` also\n\
    `unknown-card-key`; `pg update-cards` explains `duplicate-card-keys` and `unknown-card-key`. A sandbox that speaks the dialect uses\n\
    all of them, and its own code where the dialect has none.\n\n";

/// The page of dialects.
pub(super) fn situations(tables: &Tables) -> String {
    let mut page = SITUATIONS.to_owned();
    for (name, title) in [("SandboxStatusCode", "Declines"), ("SandboxErrorCode", "Errors")] {
        if let Some(codes) = tables.code_table(name) {
            page += &situation_rows(title, codes);
        }
    }
    page
}

fn situation_rows(title: &str, codes: &CodeTable) -> String {
    let rows = codes.codes.iter().map(|row| {
        let basis = row.assumption.map_or_else(String::new, assumption);
        vec![code(&row.situation()), text(&row.doc), code(&row.code), basis]
    });
    format!("## {title}\n\n{}\n", table(&["Situation", "Meaning", "The sandbox's code", "Assumption"], rows))
}
