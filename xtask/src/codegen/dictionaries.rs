//! Words for fuzzers: a mutation that puts a whole name somewhere reaches what single bytes do not.

use std::{collections::BTreeSet, path::Path};

use super::{TABLES, checked, tables::Tables};

/// Syntax elements of forms, XML and JSON.
const REQUESTS: [&str; 11] = ["&", "=", "%00", "%FF", "+", "[]", "[0]", "\u{202e}", "\u{feff}", "\t", "\n"];
const REPLIES: [&str; 24] = [
    "{\"",
    "\":",
    "\",\"",
    "[{",
    "}]",
    "null",
    "true",
    "\\u00e9",
    "\\ud83d\\ude00",
    "1e400",
    "-0.0",
    "<serviceResponse>",
    "</serviceResponse>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?xml version=\"1.0\"?>",
    "&amp;",
    "&#x41;",
    "/>",
    "</",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "xsi:nil=\"true\"",
];

/// The dictionaries for requests and for replies, as libFuzzer reads them, from the tables below the root.
///
/// # Errors
/// When a table is wrong.
pub(crate) fn generate(root: &Path) -> anyhow::Result<(String, String)> {
    let tables = checked(&root.join(TABLES))?;
    Ok((text(requests(&tables)), text(replies(&tables))))
}

fn requests(tables: &Tables) -> BTreeSet<String> {
    let mut words = owned(&REQUESTS);
    for (service, method) in tables.methods() {
        words.insert(format!("{}{}", service.info.prefix, method.name));
        for field in tables.flatten(&method.fields) {
            words.insert(field.wire.replace("{n}", "0"));
            words.extend(field.aliases.iter().chain(&field.values).cloned());
        }
    }
    words.extend(tables.currencies.iter().map(|currency| currency.code.clone()));
    words
}

fn replies(tables: &Tables) -> BTreeSet<String> {
    let mut words = owned(&REPLIES);
    for part in tables.records.iter().flat_map(|record| &record.fields) {
        words.insert(part.prefix.clone().unwrap_or_else(|| part.wire.clone()));
        words.extend(part.aliases.iter().chain(&part.item).cloned());
    }
    words.extend(tables.codes.iter().flat_map(|table| &table.codes).map(|code| code.code.clone()));
    words
}

fn owned(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// One word a line, with special bytes as numbers.
fn text(words: BTreeSet<String>) -> String {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\x{byte:02X}"),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    let line = |word: &String| format!("\"{}\"\n", word.bytes().map(escaped).collect::<String>());
    words.iter().filter(|word| !word.is_empty()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_word_of_plain_letters() {
        let (requests, replies) = generate(&crate::workspace::root().unwrap()).unwrap();
        for word in ["\"cardNumber\"\n", "\"itemName0\"\n", "\"/v3/token/lookup\"\n"] {
            assert!(requests.contains(word), "{word}");
        }
        for word in ["\"errorCode\"\n", "\"liabilityShift\"\n", "\"119\"\n", "\"{\\x22\"\n"] {
            assert!(replies.contains(word), "{word}");
        }
        for line in requests.lines().chain(replies.lines()) {
            assert!(line.len() > 2 && line.starts_with('"') && line.ends_with('"') && line.is_ascii(), "{line}");
        }
    }
}
