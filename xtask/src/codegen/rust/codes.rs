//! Code tables and currencies: open newtypes with constants.

use super::{
    super::{
        names::literal,
        place::Places,
        tables::{Code, CodeTable, Tables},
    },
    PRELUDE, Unit,
};

pub(super) fn generate(tables: &Tables) -> Vec<Unit> {
    let currencies = CodeTable {
        places: Places::default(),
        name: "Currency".to_owned(),
        source: "2 §4.3".to_owned(),
        doc: "A currency by its ISO 4217 code; which ones may be used depends on the account.".to_owned(),
        codes: tables
            .currencies
            .iter()
            .map(|currency| Code {
                places: currency.places.clone(),
                code: currency.code.clone(),
                name: currency.code.clone(),
                message: currency.name.clone(),
                remedy: None,
                http: None,
                assumption: None,
                scope: None,
                source: "2 §4.3".to_owned(),
                doc: format!("{}, {} decimals.", currency.name, currency.exponent),
            })
            .collect(),
    };
    let mut exponents = String::from(
        "/// Decimals of the currency, as far as ISO 4217 lists it.\n#[must_use]\npub fn exponent(&self) -> Option<u8> {\nSome(match self.as_str() {\n",
    );
    for exponent in [0, 2, 3, 4] {
        let codes: Vec<String> = tables
            .currencies
            .iter()
            .filter(|currency| currency.exponent == exponent)
            .map(|currency| literal(&currency.code))
            .collect();
        if !codes.is_empty() {
            exponents += &format!("{} => {exponent},\n", codes.join(" | "));
        }
    }
    exponents += "_ => return None,\n})\n}\n";
    let documented = tables.codes.iter().filter(|table| !table.is_invented());
    documented.map(|table| unit(table, "")).chain(std::iter::once(unit(&currencies, &exponents))).collect()
}

fn unit(table: &CodeTable, more: &str) -> Unit {
    let name = &table.name;
    let constants: String = table.codes.iter().map(constant).collect();
    // A table of many codes is sorted, and searched in half a dozen steps.
    let search =
        if table.codes.len() > 100 && table.codes.is_sorted_by_key(|code| &code.code) { "sorted" } else { "listed" };
    let code = format!(
        "{PRELUDE}/// {doc} (spec {source}) An unknown code is kept unchanged.\n\
         #[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(Cow<'static, str>);\n\n\
         text_traits!({name}: {search});\n\n\
         impl {name} {{\n{constants}{known}\n{message}{facts}{more}}}\n",
        doc = table.doc,
        source = table.source,
        known = known(table),
        message = message(table),
        facts = facts(table),
    );
    Unit { name: name.clone(), code }
}

fn constant(code: &Code) -> String {
    let basis = code.assumption.map_or_else(String::new, |number| format!(", assumption A{number:02}"));
    format!(
        "/// `{}`: {} (spec {}{basis})\npub const {}: Self = Self(Cow::Borrowed({}));\n",
        code.code,
        code.doc,
        code.source,
        code.name,
        literal(&code.code)
    )
}

/// The list of all codes. rustfmt leaves it alone.
pub(super) fn known(table: &CodeTable) -> String {
    let mut names = String::new();
    let mut column = 0;
    for name in table.codes.iter().map(|code| &code.name) {
        let gap = if column == 0 || column + 1 + name.len() > 120 { "\n        " } else { " " };
        column = if gap == " " { column + 1 + name.len() } else { 8 + name.len() };
        names += &format!("{gap}{name}");
    }
    format!("/// All codes of the table.\npub const KNOWN: &'static [Self] = known! {{{names}\n    }};\n")
}

/// The method that returns the meaning of a code.
fn message(table: &CodeTable) -> String {
    let rows = table.codes.iter().map(|code| Some((code, literal(&code.message))));
    lookup("What the code means; `None` for one that the table does not know.", "message", "&'static str", rows)
}

/// The further columns of a table, each a method.
fn facts(table: &CodeTable) -> String {
    let mut text = String::new();
    if table.codes.iter().any(|code| code.remedy.is_some()) {
        let rows = table.codes.iter().map(|code| {
            let remedy = code.remedy.as_ref()?;
            Some((code, format!("Remedy::{}", variant(remedy))))
        });
        text +=
            &lookup("What to do about it; `None` for a code that the table does not know.", "remedy", "Remedy", rows);
    }
    if table.codes.iter().any(|code| code.http.is_some()) {
        let rows = table.codes.iter().map(|code| Some((code, code.http?.to_string())));
        text += &lookup("The HTTP status that the sandbox answers with.", "http_status", "u16", rows);
    }
    text
}

/// A method that looks a fact up by code; codes with the same fact share a line.
fn lookup<'c>(doc: &str, name: &str, result: &str, rows: impl Iterator<Item = Option<(&'c Code, String)>>) -> String {
    let mut grouped: Vec<(String, Vec<String>)> = Vec::new();
    for (code, fact) in rows.flatten() {
        match grouped.iter_mut().find(|(found, _)| *found == fact) {
            Some((_, codes)) => codes.push(literal(&code.code)),
            None => grouped.push((fact, vec![literal(&code.code)])),
        }
    }
    let arms: String = grouped.iter().map(|(fact, codes)| format!("{} => {fact},\n", codes.join(" | "))).collect();
    format!(
        "/// {doc}\n#[must_use]\npub fn {name}(&self) -> Option<{result}> {{\nSome(match self.as_str() {{\n{arms}_ => return None,\n}})\n}}\n\n"
    )
}

/// The variant of a remedy: `fix-request` → `FixRequest`.
pub(super) fn variant(remedy: &str) -> String {
    remedy.split('-').map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}
