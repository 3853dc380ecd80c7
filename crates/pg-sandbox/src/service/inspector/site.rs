//! The pages and their paths. Every link takes its path from here.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    Context, Html, List,
    view::{self, Shown},
};
use crate::service::OwnAccount;

/// A page of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Overview,
    List(List),
    Clock,
    Faults,
    Updater,
    Accounts,
    Decoder,
    Assumptions,
}

impl Place {
    /// The navigation: groups with their name.
    pub(super) const MENU: [(&'static str, &'static [Self]); 3] = [
        (
            "What happened",
            &[
                Self::Overview,
                Self::List(List::Requests),
                Self::List(List::Transactions),
                Self::List(List::Tokens),
                Self::List(List::Sessions),
                Self::List(List::Authentications),
                Self::List(List::Checkouts),
                Self::List(List::Batches),
                Self::List(List::Callbacks),
                Self::List(List::Sms),
            ],
        ),
        ("What happens next", &[Self::Clock, Self::Faults, Self::Updater, Self::Accounts]),
        ("What it means", &[Self::Decoder, Self::Assumptions]),
    ];

    /// Its name.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::List(List::Requests) => "Requests",
            Self::List(List::Transactions) => "Transactions",
            Self::List(List::Tokens) => "Card tokens",
            Self::List(List::Sessions) => "Sessions",
            Self::List(List::Authentications) => "3-D Secure",
            Self::List(List::Checkouts) => "Checkouts",
            Self::List(List::Batches) => "Updater batches",
            Self::List(List::Callbacks) => "Callbacks",
            Self::List(List::Sms) => "Text messages",
            Self::Clock => "Clock",
            Self::Faults => "Faults",
            Self::Updater => "Updater answers",
            Self::Accounts => "Accounts",
            Self::Decoder => "Redirect decoder",
            Self::Assumptions => "Assumptions",
        }
    }

    /// Its path.
    pub(super) fn path(self) -> String {
        let name = match self {
            Self::Overview => return "/_sandbox/".to_owned(),
            Self::List(list) => list.name(),
            Self::Clock => "clock",
            Self::Faults => "faults",
            Self::Updater => "updater",
            Self::Accounts => "accounts",
            Self::Decoder => "decoder",
            Self::Assumptions => "assumptions",
        };
        format!("/_sandbox/pages/{name}")
    }

    /// Its path, for the account that the present page is about.
    pub(super) fn here(self, context: &Context<'_>) -> String {
        here(context, self.path())
    }

    /// Returns a path below that of the page.
    pub(super) fn below(self, name: &str) -> String {
        const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
        format!("{}/{}", self.path().trim_end_matches('/'), utf8_percent_encode(name, SEGMENT))
    }
}

/// Returns a path of the inspector, for the account that the present page is about.
pub(super) fn here(context: &Context<'_>, path: String) -> String {
    at(context.account, path)
}

/// Returns a path of the inspector, for this account if there is one.
pub(super) fn at(account: Option<OwnAccount<'_>>, path: String) -> String {
    match account {
        Some(own) => of_account(path, &own.account.name),
        None => path,
    }
}

/// Returns a path of the inspector, for an account created at run time. Its name needs no escapes.
pub(super) fn of_account(path: String, name: &str) -> String {
    format!("{path}?account={name}")
}

/// Returns a path of an entry, for the account that the present page is about, or else for the entry's own account if
/// it was created at run time: that account's clock decides what the page says.
fn owned(context: &Context<'_>, entry: Shown<'_>, path: String) -> String {
    let owner = entry.text("merchant");
    if context.account.is_some() || owner.is_empty() || context.merchants().by_name(&owner).is_some() {
        return here(context, path);
    }
    of_account(path, &owner)
}

/// Returns the path of a button of a list's entry.
pub(super) fn action(context: &Context<'_>, list: List, entry: Shown<'_>, key: &str, name: &str) -> String {
    owned(context, entry, format!("{}/{name}", Place::List(list).below(key)))
}

/// Returns the content as a link to a list's entry with this key: `entry` itself, or another entry of its account.
pub(super) fn opening(context: &Context<'_>, list: List, entry: Shown<'_>, key: &str, content: Html) -> Html {
    let path = owned(context, entry, Place::List(list).below(key));
    Html::new().raw("<a").attribute("href", &path).raw(">").put(content).raw("</a>")
}

/// The same with the key as its content; empty if there is no key.
pub(super) fn by_key(context: &Context<'_>, list: List, entry: Shown<'_>, key: &str) -> Html {
    if key.is_empty() { Html::new() } else { opening(context, list, entry, key, view::code(key)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_in_the_menu() {
        let menu: Vec<Place> = Place::MENU.iter().flat_map(|(_, places)| *places).copied().collect();
        assert!(List::ALL.iter().all(|list| menu.contains(&Place::List(*list))));
    }

    #[test]
    fn keys_stay_in_their_segment() {
        let tokens = Place::List(List::Tokens);
        assert_eq!(tokens.below("4f2c-91"), "/_sandbox/pages/tokens/4f2c-91");
        assert_eq!(tokens.below("a/../\"b?"), "/_sandbox/pages/tokens/a%2F..%2F%22b%3F");
    }
}
