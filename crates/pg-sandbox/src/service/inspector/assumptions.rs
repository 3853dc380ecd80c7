//! The register of assumptions: what the documents leave open, and the sandbox's decision.

use crate::{ASSUMPTIONS, Assumption};

use super::{
    Context, Html, Reply, basis,
    site::Place,
    view::{self, Facts},
};

/// The areas of the register, and their titles.
const AREAS: [(&str, &str); 4] = [
    ("model", "Requests and replies"),
    ("crypto", "Signatures and redirect data"),
    ("protocol", "Protocol and errors"),
    ("sandbox", "Behaviour of the service"),
];

/// Returns all of them, by area.
pub(super) fn list(context: &Context<'_>) -> Reply {
    let sections = AREAS.map(|(area, name)| {
        let links = ASSUMPTIONS
            .iter()
            .filter(|assumption| assumption.area == area)
            .map(|assumption| Html::new().raw("<li>").put(basis::link(context.account, assumption)).raw("</li>\n"));
        view::section(name, Html::new().raw("<ul>\n").all(links).raw("</ul>\n"))
    });
    let about = "The documents leave points open. Each decision has a number. The header <code>pg-basis</code> of every reply names the decisions on which the reply is based.";
    let content = Html::new().raw("<p class=\"lead\">").raw(about).raw("</p>\n").all(sections);
    super::shown(context, Place::Assumptions, Place::Assumptions.title(), content)
}

/// Returns the assumption with this number, if it exists.
pub(super) fn show(context: &Context<'_>, number: &str) -> Option<Reply> {
    let assumption = Assumption::numbered(number.parse().ok()?)?;
    let facts = Facts::new()
        .quoted("Open", assumption.open)
        .quoted("Chosen", assumption.chosen)
        .quoted("Why", assumption.why)
        .quoted("To change it", assumption.change);
    let back = view::link(&Place::Assumptions.here(context), "All assumptions");
    let content = Html::new().raw("<section>\n").put(facts.into_html()).raw("</section>\n<p>").put(back).raw("</p>\n");
    let heading = format!("A{:02} {}", assumption.number, assumption.title);
    Some(super::shown(context, Place::Assumptions, &heading, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assumption_has_an_area_that_is_listed() {
        for assumption in ASSUMPTIONS.iter() {
            assert!(AREAS.iter().any(|(area, _)| *area == assumption.area), "A{:02}", assumption.number);
        }
    }
}
