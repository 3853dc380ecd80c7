//! All drills, as data.

mod callbacks;
mod credentials;
mod hygiene;
mod later;
mod lookups;
mod money;
mod money_edges;
mod redirects;
mod sales;
mod tls;
mod updates;

use crate::{
    drill::{Drill, Family, Severity},
    story::{Scene, Story, charge::Charge},
};

/// Returns all drills, in the order of their families and numbers.
///
/// ```
/// assert!(pg_rehearse::drills().any(|drill| drill.id == "M04" && drill.title.contains("Reply lost")));
/// ```
pub fn drills() -> impl Iterator<Item = &'static Drill> {
    scenes().map(|scene| &scene.drill)
}

/// Returns all drills with their stories, in the same order.
pub(crate) fn scenes() -> impl Iterator<Item = &'static Scene> {
    let all: [&'static [Scene]; 11] = [
        money::SCENES,
        money_edges::SCENES,
        later::SCENES,
        lookups::SCENES,
        credentials::SCENES,
        redirects::SCENES,
        callbacks::SCENES,
        sales::SCENES,
        updates::SCENES,
        tls::SCENES,
        hygiene::SCENES,
    ];
    all.into_iter().flatten()
}

/// A drill about a charge.
struct Text {
    id: &'static str,
    title: &'static str,
    severity: Severity,
    basis: &'static str,
    imitates: &'static str,
    mend: &'static str,
}

impl Text {
    const fn told(self, family: Family, story: Story) -> Scene {
        let Self { id, title, severity, basis, imitates, mend } = self;
        let drill = Drill { id, family, title, severity, basis, imitates, mend, job: story.job() };
        Scene { drill, story }
    }

    const fn charge(self, family: Family, charge: Charge) -> Scene {
        self.told(family, Story::Charge(charge))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every numbered heading of the three documents.
    const SECTIONS: [(&str, &str); 3] = [
        ("1", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
        ("2", "1 1.1 1.2 2 2.1 2.2 2.3 2.4 2.5 2.6 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 5 6 7 8 9"),
        ("3", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
    ];

    #[test]
    fn each_basis_names_sections_and_assumptions_that_exist() {
        for drill in drills() {
            let mut document = "";
            for part in drill.basis.split(", ") {
                let is_known = if let Some((name, section)) = part.split_once('§') {
                    // A section alone is in the same document as the one before it.
                    document = if name.is_empty() { document } else { name.trim() };
                    let sections = SECTIONS.iter().find(|(known, _)| *known == document);
                    sections.is_some_and(|(_, sections)| sections.split(' ').any(|known| known == section))
                } else if let Some(number) = part.strip_prefix('A') {
                    number.parse().is_ok_and(|number| pg_sandbox::Assumption::numbered(number).is_some())
                } else {
                    part.starts_with("PCI DSS ") || part.parse::<f32>().is_ok()
                };
                assert!(is_known, "{}: {part} of {:?}", drill.id, drill.basis);
            }
        }
    }

    #[test]
    fn drills_have_unique_numbers_and_all_texts() {
        let all: Vec<_> = drills().collect();
        assert!(all.len() >= 60, "{}", all.len());
        let ids: BTreeSet<_> = all.iter().map(|drill| drill.id).collect();
        assert_eq!(ids.len(), all.len());
        for drill in all {
            for text in [drill.title, drill.basis, drill.imitates, drill.mend] {
                assert!(!text.is_empty(), "{}", drill.id);
            }
            assert!(drill.imitates.ends_with('.') && drill.mend.ends_with('.'), "{}", drill.id);
        }
        for family in Family::ALL {
            assert!(drills().filter(|drill| drill.family == family).count() >= 5, "{}", family.name());
        }
    }
}
