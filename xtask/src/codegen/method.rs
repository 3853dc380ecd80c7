//! `cargo xtask method NAME`: everything that the tables know of a method, and where each thing is that follows.

mod whereabouts;

use std::{fmt::Write, path::Path};

use anyhow::bail;

use super::{
    TABLES, checked,
    openapi::retry_class,
    place::{Place, nearest},
    tables::{Credentials, Field, Method, Row, Service, Tables},
};

/// Prints one method, or with no name the list of all.
///
/// # Errors
/// When the tables are wrong, when no method has the name (with the nearest one that does), or when several have it.
pub(crate) fn run(root: &Path, name: Option<&str>) -> anyhow::Result<()> {
    let tables = checked(&root.join(TABLES))?;
    match name {
        Some(name) => {
            let (service, method) = find(&tables, name)?;
            print!("{}", page(root, &tables, service, method));
        }
        None => tables.methods().for_each(|(service, method)| {
            println!("{:40} {}", path(service, method), method.title);
        }),
    }
    Ok(())
}

/// `transaction/authCardKey`.
fn path(service: &Service, method: &Method) -> String {
    format!("{}/{}", service.info.name, method.name)
}

/// The method with that name, its service's name before it or not, or with that Rust type. Capitals do not count.
fn find<'t>(tables: &'t Tables, name: &str) -> anyhow::Result<(&'t Service, &'t Method)> {
    let same = |known: &str| known.eq_ignore_ascii_case(name.trim_start_matches('/'));
    let is_it = |service: &Service, method: &Method| {
        let on_the_wire = format!("{}{}", service.info.prefix.trim_start_matches('/'), method.name);
        [&path(service, method), &method.name, &method.rust, &on_the_wire].into_iter().any(|known| same(known))
    };
    let found: Vec<_> = tables.methods().filter(|(service, method)| is_it(service, method)).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let known: Vec<String> = tables.methods().map(|(service, method)| path(service, method)).collect();
            let short = known.iter().filter_map(|known| known.split('/').nth(1));
            let near = nearest(name, known.iter().map(String::as_str).chain(short));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            bail!("no method is called {name:?}{hint} (`cargo xtask method` lists all)")
        }
        _ => {
            let names: Vec<String> = found.iter().map(|(service, method)| path(service, method)).collect();
            bail!("several methods are called {name:?}: {}", names.join(", "))
        }
    }
}

/// The printed description of one method.
fn page(root: &Path, tables: &Tables, service: &Service, method: &Method) -> String {
    let mut text = format!("{}: {}\n{}\n\n", path(service, method), method.title, method.doc);
    let credentials = match method.credentials {
        Credentials::Signed => "apiKey, apiPassword, shaSignature",
        Credentials::Session => "none: the session key is a parameter",
        Credentials::Enterprise => "api_key, api_password, version",
    };
    let reply = match (method.reply.as_str(), &method.output) {
        ("", _) => "none: the browser is redirected".to_owned(),
        (reply, None) => reply.to_owned(),
        (reply, Some(output)) => format!("{reply}, as {output}"),
    };
    let rules = if method.cross { "between parameters" } else { "of each parameter alone" };
    let facts = [
        ("path", format!("POST {}{}", service.info.prefix, method.name)),
        ("source", format!("spec {}", method.source)),
        ("credentials", credentials.to_owned()),
        ("reply", reply),
        ("retry", format!("{}: {}", retry_class(method.retry), method.retry_why)),
        ("rules", rules.to_owned()),
        ("row", method.places.row.to_string()),
    ];
    for (name, fact) in facts {
        let _ = writeln!(text, "  {name:<13}{fact}");
    }
    let _ = writeln!(text, "\nParameters\n{}", parameters(tables, method));
    let _ = writeln!(text, "Where it is");
    let places = whereabouts::of(root, service, method);
    // Two blanks, so that a terminal finds the path.
    let width = places.iter().map(|one| one.what.len()).max().unwrap_or_default() + 2;
    for one in places {
        let _ = writeln!(text, "  {:<width$}{}", one.what, one.at.as_deref().unwrap_or("nowhere yet"));
    }
    text
}

/// A line for each parameter: its rules, and its row.
fn parameters(tables: &Tables, method: &Method) -> String {
    let mut lines = Vec::new();
    collect(tables, &method.fields, "", &mut lines);
    let mut widths = [0; 5];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for line in lines {
        let cells: String = line.iter().zip(widths).map(|(cell, width)| format!("  {cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.trim_end());
    }
    text
}

/// The rows in their order, those of groups by the way to them: `order.currency`.
fn collect(tables: &Tables, rows: &[Row], way: &str, lines: &mut Vec<[String; 5]>) {
    for row in rows {
        match row {
            Row::Field(field) => lines.push(line(field, way)),
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                let name = row.rust.as_ref().unwrap_or(&row.group);
                let inner = match (row.inline, row.repeat) {
                    (true, _) => way.to_owned(),
                    (_, true) => format!("{way}{name}s[n]."),
                    _ => format!("{way}{name}."),
                };
                collect(tables, &group.fields, &inner, lines);
            }
        }
    }
}

fn line(field: &Field, way: &str) -> [String; 5] {
    let mut rules = field.format.clone();
    for (name, rule) in [("length", &field.length), ("range", &field.range)] {
        if let Some(rule) = rule {
            let _ = write!(rules, ", {name} {rule}");
        }
    }
    if !field.values.is_empty() {
        let _ = write!(rules, " {}", field.values.join(" | "));
    }
    if field.sensitive {
        rules += ", never shown";
    }
    let required = if field.required { "required" } else { "" };
    let Place { file, line, .. } = field.places.row;
    [field.name(), format!("{way}{}", field.rust_name()), rules, required.to_owned(), format!("{file}.toml:{line}")]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::tests::{read, root},
        *,
    };

    fn tables() -> Tables {
        checked(&root().join(TABLES)).unwrap()
    }

    #[test]
    fn each_path_stands_apart_from_its_label() {
        let tables = tables();
        let (service, method) = find(&tables, "authCardKey").unwrap();
        for one in whereabouts::of(&root(), service, method) {
            let line = format!("  {} ", one.what);
            let page = page(&root(), &tables, service, method);
            assert!(page.lines().any(|text| text.starts_with(&format!("{line} "))), "{line}");
        }
    }

    #[test]
    fn a_method_is_found_by_each_of_its_names() {
        let tables = tables();
        for name in
            ["transaction/authCardKey", "authCardKey", "AuthCardKey", "/v3/transaction/authCardKey", "AUTHCARDKEY"]
        {
            assert_eq!(find(&tables, name).unwrap().1.rust, "AuthCardKey", "{name}");
        }
        let told = |name: &str| find(&tables, name).err().unwrap().to_string();
        assert!(told("authCardKy").contains("; did you mean \"authCardKey\"?"), "{}", told("authCardKy"));
        assert!(told("tokn/disable").contains("; did you mean \"token/disable\"?"));
        assert!(!told("something else entirely").contains("did you mean"));
        assert_eq!(told("refund"), "several methods are called \"refund\": transaction/refund, enterprise/refund");
    }

    /// Checks that each named line has the stated content, for every method.
    #[test]
    fn everything_that_follows_from_a_method_is_where_it_says() {
        let tables = tables();
        for (service, method) in tables.methods() {
            let all = whereabouts::of(&root(), service, method);
            assert!(all.iter().all(|one| one.at.is_some()), "{}: {all:?}", path(service, method));
            for one in all {
                let at = one.at.unwrap();
                let (file, line) = at.split([' ', ',']).next().unwrap().split_once(':').unwrap();
                let text = read(file);
                let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
                let expected = match one.what {
                    "reply" => "pub struct ",
                    "signing order, and way back from a form" => "request_fields! {",
                    "validator" => "pub(crate) fn each_field(",
                    "facts at run time" => "static INFO: MethodInfo",
                    "rule between fields" => "violations: &mut Violations",
                    "reference" => "## ",
                    "OpenAPI path" | "tests" => &method.name,
                    _ => &method.rust,
                };
                assert!(line.contains(expected), "{}: {at} holds {line:?}, not {expected:?}", one.what);
            }
        }
    }

    #[test]
    fn the_page_follows_the_tables() {
        let tables = tables();
        let (service, method) = find(&tables, "authCardKey").unwrap();
        let page = page(&root(), &tables, service, method);
        let expected = [
            "transaction/authCardKey: Token auth\n",
            "  path         POST /v3/transaction/authCardKey\n",
            "  reply        Transaction, as Outcome<Transaction>\n",
            "  retry        lookup-first: carries uniqueMerchantReference",
            "  cardKey                    card_key                           text                             required",
            "  itemQuantity{n}            order.items[n].quantity            integer",
            "  cardCV2                    card_cv2                           cv2, length 3..4, never shown",
            "crates/pg-sandbox/src/service/transaction/payments.rs:",
        ];
        for line in expected {
            assert!(page.contains(line), "{line:?} is not in\n{page}");
        }
        let row = page.lines().find(|line| line.trim_start().starts_with("cardCV2")).unwrap();
        let (file, number) = row.rsplit(' ').next().unwrap().split_once(':').unwrap();
        let table = fs::read_to_string(root().join(TABLES).join(file)).unwrap();
        assert!(
            table.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap().contains("wire = \"cardCV2\""),
            "{row}"
        );
    }
}
