//! Figures that repeat those of the tables, or of pages that commands write, so that none is outdated.

use super::{Source, Violation};

const README: &str = "README.md";
const THREATS: &str = "docs/internals/threat-model.md";
const ATTACKS: &str = "tests/src/bin/attack/";

/// Compares the README with the tables, the measurements and the report of the simulation, and the threat model with the attacks.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let text = |path: &str| sources.iter().find(|source| source.path == path).map(|source| source.text.as_str());
    let (Some(reliability), Some(measured)) =
        (text("docs/internals/reliability.md"), text("docs/internals/performance.md"))
    else {
        return Vec::new();
    };
    // A sentence may continue in the next line.
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let simulated = joined(reliability);
    let number =
        |after: &str| simulated.split(after).next().and_then(|before| before.rsplit(' ').next()).map(str::to_owned);
    let methods = sources.iter().filter(|source| source.path.starts_with("crates/pg-model/tables/"));
    let methods: usize = methods.map(|table| table.text.lines().filter(|line| *line == "[[method]]").count()).sum();
    let (least, most) = decoding(measured);
    let wanted = [
        format!("all {methods} methods"),
        format!("sent {} requests", number(" requests that reached the service").unwrap_or_default()),
        format!("through {} crashes", number(" crashes, and no check").unwrap_or_default()),
        format!("{} planted bugs", rows(reliability, "| planted bug | ")),
        format!("takes {least:.2} to {most:.2} of the time"),
    ];
    let missing = wanted.into_iter().filter(|figure| text(README).is_some_and(|page| !joined(page).contains(figure)));
    missing
        .map(|figure| Violation::new(README, format!("does not say {figure:?}"), "state the present number"))
        .chain(attacks(text(THREATS).unwrap_or_default(), sources))
        .collect()
}

/// The words that the threat model gives to `cargo xtask attack --only` and that select no attack.
fn attacks(threats: &str, sources: &[Source]) -> Vec<Violation> {
    let attacks = sources.iter().filter(|source| source.path.starts_with(ATTACKS));
    let attacks: Vec<String> = attacks.map(|source| source.text.to_lowercase()).collect();
    let words = threats.split("--only \"").skip(1).filter_map(|rest| rest.split('"').next());
    // The colon follows the name of what is attacked.
    let unknown = words.filter(|words| !attacks.iter().any(|text| text.contains(words.trim_end_matches(':'))));
    unknown
        .map(|words| Violation::new(THREATS, format!("no attack has {words:?} in its name"), "name one that there is"))
        .collect()
}

/// The number of rows of the table that begins so.
fn rows(page: &str, head: &str) -> usize {
    let table = page.lines().skip_while(|line| !line.starts_with(head));
    table.take_while(|line| line.starts_with('|')).count().saturating_sub(2)
}

/// The smallest and the largest ratio of decoding XML, rounded outwards to 0.05, since measurements vary.
fn decoding(measured: &str) -> (f64, f64) {
    let lines = measured.lines().filter(|line| line.contains("| decode XML, "));
    let ratios = lines.filter_map(|line| line.split('|').nth(3)?.trim().parse::<f64>().ok());
    let (least, most) = ratios.fold((f64::MAX, 0.0_f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
    ((least * 20.0).floor() / 20.0, (most * 20.0).ceil() / 20.0)
}

#[cfg(test)]
mod tests {
    use super::{super::source, *};

    #[test]
    fn words_that_select_no_attack_are_reported() {
        let sources = [source("tests/src/bin/attack/a.rs", "\"Sandbox\" => \"over TLS\"")];
        let found = attacks("`--only \"sandbox:\"`, `--only \"over tls\"`, `--only \"smuggling\"`", &sources);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("no attack has \"smuggling\""), "{}", found[0]);
    }

    #[test]
    fn a_figure_of_another_day_is_reported() {
        let pages = |readme: &str| {
            [
                source(README, readme),
                source("crates/pg-model/tables/token.toml", "[[method]]\nname = \"a\"\n[[method]]\n"),
                source(
                    "docs/internals/reliability.md",
                    "16 hours, 2,848 requests that reached\nthe service, 46 crashes, and no check\n\n\
                     | planted bug | check |\n|---|---|\n| a | b |\n\n| other | x |\n|---|---|\n| c | d |\n",
                ),
                source(
                    "docs/internals/performance.md",
                    "| pg-model | decode XML, 1 | 0.863 | x |\n| pg-model | decode XML, 2 | 1.009 | x |\n| pg-model | decode JSON | 2 | x |\n",
                ),
            ]
        };
        let right =
            "all 2 methods sent 2,848\nrequests through 46 crashes; 1 planted bugs; takes 0.85 to 1.05 of the time";
        assert!(check(&pages(right)).is_empty());
        for (now, before) in [
            ("2 methods", "3 methods"),
            ("2,848", "2,849"),
            ("46 ", "45 "),
            ("1 planted", "3 planted"),
            ("0.85", "0.90"),
        ] {
            let found = check(&pages(&right.replace(now, before)));
            let places: Vec<&str> = found.iter().map(|violation| violation.place.as_str()).collect();
            assert_eq!(places, [README], "{before}");
        }
    }
}
