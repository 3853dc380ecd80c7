//! The basis of a reply: a clause of the specification, and assumptions with their titles.

use crate::{Assumption, service::OwnAccount};

use super::{
    Html,
    site::{Place, at},
    view::{self, Facts},
};

/// The documents of the specification, by their number.
const DOCUMENTS: [(&str, &str); 3] = [
    ("1", "Card tokenisation and account updater"),
    ("2", "Session and gateway"),
    ("3", "Hosted checkout and utility"),
];

/// Returns the value of the `pg-basis` header, such as `2 4.4, A12`, with its meaning.
pub(super) fn explained(account: Option<OwnAccount<'_>>, basis: &str) -> Html {
    let (assumptions, clauses): (Vec<&str>, Vec<&str>) =
        basis.split(", ").filter(|part| !part.is_empty()).partition(|part| number(part).is_some());
    let clauses = clauses.iter().fold(Facts::new(), |facts, clause| facts.fact("Clause", self::clause(clause)));
    let links = assumptions
        .iter()
        .filter_map(|name| Assumption::numbered(number(name)?))
        .map(|assumption| Html::new().raw("<li>").put(link(account, assumption)).raw("</li>\n"));
    let links = Html::new().all(links);
    let list = if links.is_empty() {
        Html::new()
    } else {
        Html::new()
            .raw("<p>Where the documents leave something open, the reply is based on:</p>\n<ul>\n")
            .put(links)
            .raw("</ul>\n")
    };
    clauses.into_html().put(list)
}

/// Returns a link to an assumption.
pub(super) fn link(account: Option<OwnAccount<'_>>, assumption: &Assumption) -> Html {
    let path = at(account, Place::Assumptions.below(&assumption.number.to_string()));
    view::link(&path, &format!("A{:02} {}", assumption.number, assumption.title))
}

fn clause(clause: &str) -> Html {
    let document = clause.split(' ').next().and_then(|number| DOCUMENTS.iter().find(|(known, _)| *known == number));
    let name = document.map_or("", |(_, name)| name);
    Html::of(&clause.replacen(' ', " §", 1)).raw(" <span class=\"note\">").text(name).raw("</span>")
}

/// Returns the number in a name such as `A07`.
fn number(name: &str) -> Option<u16> {
    name.strip_prefix('A')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_and_assumptions_are_distinguished() {
        let shown = explained(None, "2 4.4, A35, A999").into_string();
        assert!(shown.contains("2 §4.4 <span class=\"note\">Session and gateway</span>"), "{shown}");
        assert!(shown.contains("<a href=\"/_sandbox/pages/assumptions/35\">A35 Redirect data proves nothing</a>"));
        assert!(!shown.contains("999"));
        assert!(explained(None, "").is_empty());
        assert!(!explained(None, "2 7").into_string().contains("<ul>"));
    }
}
