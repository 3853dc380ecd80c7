//! Code tables, value types, currencies and the register of assumptions.

use std::ops::RangeInclusive;

use super::{
    super::{
        formats::number,
        place::{Place, allowed},
        tables::{Code, CodeTable},
    },
    Checker, mentioned_assumptions,
    names::is_shouted,
    unknown_section,
};

/// What to do about an error, as `pg_model::Remedy` knows it.
pub(super) const REMEDIES: &[&str] =
    &["fix-request", "fix-credentials", "wait-one-minute", "wait-five-minutes", "retry", "look-up", "ask-operator"];
/// The scope of a refusal, as in `pg_model::dialect::RefusalScope`.
pub(super) const SCOPES: &[&str] = &["always", "from-now-on", "while-it-lasts"];
/// Currencies whose minor unit has not two decimals: made from list one of ISO 4217, published by its maintenance agency SIX on
/// 2026-01-01, and not from the table, so that a wrong exponent in a row is noticed.
const EXPONENTS: [(u8, &str); 3] = [
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];
/// Parts of the project that an assumption can concern, in the order of its page.
pub(in super::super) const AREAS: &[&str] = &["model", "crypto", "protocol", "sandbox"];

impl Checker<'_> {
    pub(super) fn codes(&mut self) {
        for newtype in &self.tables.types {
            self.filled(&newtype.places, &[("name", &newtype.name)]);
            self.source_and_doc(&newtype.places, &newtype.source, &newtype.doc);
        }
        for table in &self.tables.codes {
            self.filled(&table.places, &[("name", &table.name)]);
            self.source_and_doc(&table.places, &table.source, &table.doc);
            for code in &table.codes {
                self.code(table, code);
            }
            if numbers_of(table).is_none() {
                self.twice("code", numbers(table));
            }
            self.twice("constant", table.codes.iter().map(|code| (&code.name, code.places.of("name"))));
        }
        self.twice("code", self.tables.codes.iter().filter(|table| numbers_of(table).is_some()).flat_map(numbers));
    }

    fn code(&mut self, table: &CodeTable, code: &Code) {
        let places = &code.places;
        self.filled(places, &[("code", &code.code), ("name", &code.name), ("message", &code.message)]);
        self.source_and_doc(places, &code.source, &code.doc);
        if !code.name.is_empty() && (!is_shouted(&code.name) || code.name == "KNOWN") {
            self.problem(places.of("name"), format!("{:?} is not a constant name, such as NO_DATA_SENT", code.name));
        }
        if let Some(remedy) = code.remedy.as_deref().filter(|remedy| !REMEDIES.contains(remedy)) {
            let hint = allowed(remedy, REMEDIES.iter().copied());
            self.problem(places.of("remedy"), format!("remedy {remedy:?} is not known{hint}"));
        }
        if let Some(scope) = code.scope.as_deref().filter(|scope| !SCOPES.contains(scope)) {
            let hint = allowed(scope, SCOPES.iter().copied());
            self.problem(places.of("scope"), format!("scope {scope:?} is not known{hint}"));
        }
        let advises = |code: &Code| code.remedy.is_some() || code.http.is_some();
        if table.codes.iter().any(advises) && (code.remedy.is_none() || code.http.is_none()) {
            self.problem(places.row, "a code of an error needs remedy and http: another row of its table has one");
        }
        if code.scope.is_some() && code.remedy.is_none() {
            self.problem(places.of("scope"), "scope is for codes of errors, which have a remedy");
        }
        if let Some(numbers) = numbers_of(table)
            && !number(&code.code).is_some_and(|number| numbers.contains(&number))
        {
            let (first, last) = (numbers.start(), numbers.end());
            let what =
                format!("{:?} is not a number from {first} to {last}, as codes of {} are", code.code, table.name);
            self.problem(places.of("code"), what);
        }
        if let Some(status) = code.http.filter(|status| !(400..600).contains(status)) {
            self.problem(places.of("http"), format!("{status} is no HTTP status of an error"));
        }
        match code.assumption {
            Some(number) => self.assumption(places.of("assumption"), number),
            None if table.is_invented() => {
                self.problem(places.row, "a code that the sandbox invents names its assumption");
            }
            None => {}
        }
    }

    pub(super) fn currencies(&mut self) {
        for currency in &self.tables.currencies {
            let places = &currency.places;
            self.filled(places, &[("code", &currency.code), ("name", &currency.name)]);
            if currency.code.len() != 3 || !currency.code.bytes().all(|b| b.is_ascii_uppercase()) {
                self.problem(places.of("code"), format!("{:?} is not three capital letters", currency.code));
            }
            let exponent = exponent(&currency.code);
            if currency.exponent != exponent {
                let what = format!(
                    "the exponent of {:?} is {exponent} in ISO 4217; if that has changed, first change EXPONENTS in \
                     xtask/src/codegen/check/codes.rs",
                    currency.code
                );
                self.problem(places.of("exponent"), what);
            }
        }
        self.twice("currency", self.tables.currencies.iter().map(|one| (&one.code, one.places.of("code"))));
    }

    pub(super) fn assumptions(&mut self) {
        let mut before = 0;
        for one in &self.tables.assumptions {
            let places = &one.places;
            let texts = [
                ("title", one.title.as_str()),
                ("open", &one.open),
                ("chosen", &one.chosen),
                ("why", &one.why),
                ("change", &one.change),
            ];
            self.filled(places, &texts);
            let answers = [("question", &one.question), ("depends", &one.depends), ("answer", &one.answer)];
            let answers = answers.iter().filter_map(|(key, text)| Some((*key, text.as_deref()?)));
            for (key, text) in texts.into_iter().chain(answers) {
                for number in mentioned_assumptions(text) {
                    self.assumption(places.of(key), number);
                }
                for what in sections(text).iter().filter_map(|source| unknown_section(source)) {
                    self.problem(places.of(key), what);
                }
            }
            let parts = [one.question.is_some(), one.depends.is_some(), one.answer.is_some()];
            if parts.contains(&true) && parts.contains(&false) {
                self.problem(
                    places.row,
                    "question, depends (what depends on the answer) and answer (where it goes) go together",
                );
            }
            self.answer(one);
            // A gap is a number that was given up, which is never used again.
            if one.number <= before {
                let what = format!("number {} after {before}: numbers ascend, new ones go to the end", one.number);
                self.problem(places.of("number"), what);
            }
            before = one.number;
            if !AREAS.contains(&one.area.as_str()) {
                let hint = allowed(&one.area, AREAS.iter().copied());
                self.problem(places.of("area"), format!("area {:?} is not known{hint}", one.area));
            }
        }
    }
}

/// The codes that a table may hold, if dialects tell its codes apart: no two rows of these tables share a code.
fn numbers_of(table: &CodeTable) -> Option<RangeInclusive<u16>> {
    match table.name.as_str() {
        _ if table.is_invented() => Some(900..=999),
        "StatusCode" => Some(100..=899),
        // Version 5 has codes of one digit (3 §7).
        "ErrorCode" => Some(1..=899),
        _ => None,
    }
}

/// The decimals of a currency's minor unit.
fn exponent(code: &str) -> u8 {
    EXPONENTS.iter().find(|(_, codes)| codes.split(' ').any(|one| one == code)).map_or(2, |(exponent, _)| *exponent)
}

fn numbers(table: &CodeTable) -> impl Iterator<Item = (&String, Place)> {
    table.codes.iter().map(|code| (&code.code, code.places.of("code")))
}

/// The sections that a text cites: `1 §4.2` and `1 §5` of `(spec 1 §4.2, §5)`. One without a document before it is of no
/// document of ours.
fn sections(text: &str) -> Vec<String> {
    let mut document = None;
    let mut found = Vec::new();
    let mut parts = text.split('§');
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        let told = before.strip_suffix(' ').and_then(|before| before.chars().last());
        document = told.filter(char::is_ascii_digit).or(document);
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(after.len());
        if let Some(document) = document {
            found.push(format!("{document} §{}", after[..end].trim_end_matches('.')));
        }
        before = after;
    }
    found
}
