//! All drills, as data.

mod callbacks;
mod credentials;
mod hygiene;
mod later;
mod money;
mod money_edges;
mod redirects;
mod sales;
mod tls;
mod updates;

use crate::{
    drill::{Drill, Family, Severity},
    story::{Story, charge::Charge},
};

/// All drills, in the order of their families and numbers.
///
/// ```
/// assert!(pg_rehearse::drills().any(|drill| drill.id == "M04" && drill.title.contains("Reply lost")));
/// ```
pub fn drills() -> impl Iterator<Item = &'static Drill> {
    let all: [&'static [Drill]; 10] = [
        money::DRILLS,
        money_edges::DRILLS,
        later::DRILLS,
        credentials::DRILLS,
        redirects::DRILLS,
        callbacks::DRILLS,
        sales::DRILLS,
        updates::DRILLS,
        tls::DRILLS,
        hygiene::DRILLS,
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
    const fn told(self, family: Family, story: Story) -> Drill {
        Drill {
            id: self.id,
            family,
            title: self.title,
            severity: self.severity,
            basis: self.basis,
            imitates: self.imitates,
            mend: self.mend,
            story,
        }
    }

    const fn charge(self, family: Family, charge: Charge) -> Drill {
        self.told(family, Story::Charge(charge))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_drills_each_with_a_number_of_its_own_and_all_its_texts() {
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
