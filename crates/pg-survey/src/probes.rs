//! The probes of a survey, in their order: harmless probes, probes of version 5, probes whose credentials a service may
//! be unable to read, and probes that pay.

use crate::{
    cards::Role,
    options::Options,
    probe::{
        Cost, Probe, Reads, Request,
        Service::{Enterprise, Gateway, Session, Token},
        Spoil, Value,
        Value::{Currency, Fresh, Long, Noted, Text},
        What,
    },
};

/// A payment of 1.00 with the card of a session, and further parameters.
macro_rules! pay {
    ($method:literal, $session:literal $(, $name:literal = $value:expr)*) => {
        Request::Call(Gateway, $method, &[
            ("sessionKey", Noted($session)),
            ("currency", Currency),
            ("itemName0", Text("Survey")),
            ("itemPrice0", Text("100")),
            $(($name, $value)),*
        ])
    };
}

mod authentications;
mod payments;

use authentications::{CHALLENGED, NOT_ENROLLED};
use payments::{DECLINED, DECLINED_LATER, INSUFFICIENT, INSUFFICIENT_LATER, PAID_LATER, PAYMENTS};

/// A page on a domain that does not exist (RFC 2606), so no browser and no service can reach it.
pub(crate) const NEXT_PAGE: &str = "https://survey.invalid/next";
/// The return page of a card form.
pub(crate) const CURRENT_PAGE: &str = "https://survey.invalid/again";

/// The control request, which succeeds as long as the account and the service work. Its session is used by the first
/// probes.
pub(crate) static CONTROL: Probe = open("session");

/// Groups of probes in their order, each with the card that it is about.
const GROUPS: [(Option<Role>, &[Probe]); 11] = [
    (None, HARMLESS),
    (None, VERSION_5),
    (Some(Role::Approved), PAYMENTS),
    (Some(Role::Declined), DECLINED),
    (Some(Role::InsufficientFunds), INSUFFICIENT),
    (Some(Role::Challenge), CHALLENGED),
    (Some(Role::NotEnrolled), NOT_ENROLLED),
    (Some(Role::Approved), PAID_LATER),
    (Some(Role::Declined), DECLINED_LATER),
    (Some(Role::InsufficientFunds), INSUFFICIENT_LATER),
    (None, UNREADABLE),
];

/// Returns which probes a survey with these options sends.
pub(crate) fn chosen(options: &Options, version_5: bool) -> Vec<&'static Probe> {
    let has_card = |role: Option<Role>| role.is_none_or(|role| options.cards.of(role).is_some());
    let wanted = |probe: &&Probe| {
        (options.payments || !probe.cost.is_money())
            && (options.wrong_password || probe.cost != Cost::FailedLogin)
            && (version_5 || !probe.request.is_of_version_5())
    };
    GROUPS.into_iter().filter(|(role, _)| has_card(*role)).flat_map(|(_, probes)| probes).filter(wanted).collect()
}

/// Returns all probes.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static Probe> {
    GROUPS.into_iter().flat_map(|(_, probes)| probes)
}

/// Returns the probe that may decide a point, and the card that it needs.
pub(crate) fn deciding(point: &str) -> Option<(Option<Role>, &'static Probe)> {
    let all = GROUPS.into_iter().flat_map(|(role, probes)| probes.iter().map(move |probe| (role, probe)));
    all.into_iter().find(|(_, probe)| probe.decides().contains(&point))
}

const fn probe(name: &'static str, what: &'static str, request: Request, reads: Reads) -> Probe {
    Probe { name, what, request, reads, cost: Cost::Nothing, unreadable: false, unless: None, confirms: None }
}

/// Returns a request that is refused for one situation.
const fn refusal(situation: &'static str, what: &'static str, request: Request) -> Probe {
    probe(situation, what, request, Reads::Situation(situation))
}

const fn open(session: &'static str) -> Probe {
    const PAGE: &[(&str, Value)] = &[("errorPageUrl", Text("https://survey.invalid/error"))];
    let request = Request::Call(Session, "initiate", PAGE);
    probe(session, "open a session", request, Reads::Made(What::Session, session)).costs(Cost::Session)
}

const fn card(session: &'static str, role: Role) -> Probe {
    let reads = Reads::CardTaken(session);
    probe("card", "post a test card to the session", Request::Form(session, Some(role)), reads).costs(Cost::Record)
}

const fn paying(probe: Probe) -> Probe {
    probe.costs(Cost::Payment)
}

const fn recording(probe: Probe) -> Probe {
    probe.costs(Cost::Record)
}

impl Probe {
    const fn costs(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    const fn unless(self, point: &'static str) -> Self {
        Self { unless: Some(point), ..self }
    }

    const fn confirms(self, point: &'static str) -> Self {
        Self { confirms: Some(point), ..self }
    }

    const fn unreadable(self) -> Self {
        Self { unreadable: true, ..self }
    }
}

const FORM: Reads = Reads::SessionData;

const HARMLESS: &[Probe] = &[
    refusal(
        "unknown-transaction-key",
        "update a transaction that does not exist",
        Request::Call(
            Gateway,
            "update",
            &[("transactionKey", Fresh("no transaction")), ("merchantReference", Fresh("reference"))],
        ),
    ),
    probe(
        "lookup",
        "look up a reference that was never used",
        Request::Call(Gateway, "lookup", &[("uniqueMerchantReference", Fresh("unused reference"))]),
        Reads::Nothing { point: "lookup.nothing", code_of: "unknown-transaction-key" },
    ),
    refusal(
        "unknown-card-key",
        "disable a stored card that does not exist",
        Request::Call(Token, "disable", &[("cardKey", Fresh("no card"))]),
    ),
    probe(
        "token lookup",
        "look up a stored card that does not exist",
        Request::Call(Token, "lookup", &[("cardKey", Noted("no card"))]),
        Reads::Nothing { point: "lookup.no_card", code_of: "unknown-card-key" },
    ),
    refusal(
        "unknown-authentication-key",
        "query an authentication that does not exist",
        Request::Call(Gateway, "getAuthenticationStatus", &[("authenticationKey", Fresh("no authentication"))]),
    ),
    refusal(
        "missing-parameter",
        "disable a stored card without naming it",
        Request::Call(Token, "disable", &[("merchantCustomerReference", Text("survey"))]),
    ),
    refusal(
        "invalid-parameter",
        "send a title that is too long, for a stored card that does not exist",
        Request::Call(Token, "updateCardKeyDetails", &[("cardKey", Noted("no card")), ("customerTitle", Long(60))]),
    ),
    refusal(
        "session-has-no-card",
        "pay with a session that has no card",
        pay!("authSessionKey", "session", "uniqueMerchantReference" = Fresh("refused reference")),
    ),
    probe(
        "misplaced-reference",
        "send a reference to a method that has none",
        Request::Call(
            Gateway,
            "getAuthenticationStatus",
            &[("authenticationKey", Noted("no authentication")), ("uniqueMerchantReference", Fresh("misplaced"))],
        ),
        Reads::UnlessAs("misplaced-reference", "unknown-authentication-key"),
    ),
    probe(
        "misplaced-amount",
        "cancel a transaction that does not exist, with a parameter named amount",
        Request::Call(Gateway, "cancelpreauth", &[("transactionKey", Noted("no transaction")), ("amount", Text("1"))]),
        Reads::UnlessAs("misplaced-amount", "unknown-transaction-key"),
    ),
    probe(
        "called-by-a-browser",
        "look up a reference with the headers of a web page",
        Request::Spoilt(Spoil::Browser, Gateway, "lookup", &[("uniqueMerchantReference", Noted("unused reference"))]),
        Reads::UnlessAs("called-by-a-browser", "lookup"),
    ),
    probe("form", "post a card form with an invalid card number", Request::Form("session", None), FORM),
    // The first redirect may contain none of the characters in which the text encodings differ.
    probe("form", "post the card form again", Request::Form("session", None), FORM).unless("session_data.text"),
    probe("form", "post the card form again", Request::Form("session", None), FORM).unless("session_data.text"),
];

const VERSION_5: &[Probe] = &[
    refusal(
        "unsupported-version",
        "send version 4 to version 5",
        Request::Call(Enterprise, "transaction_lookup", &[("version", Text("4")), ("trans_key", Fresh("no checkout"))]),
    ),
    recording(refusal(
        "address-not-found",
        "look up an address in a postcode that is not in use",
        Request::Call(
            Enterprise,
            "address",
            &[("property_name", Text("Survey House 77")), ("postcode", Text("ZZ9 9ZZ"))],
        ),
    )),
    recording(refusal(
        "unknown-applet",
        "ask for a checkout token of an applet that does not exist",
        Request::Call(
            Enterprise,
            "gettoken",
            &[("item_name[0]", Text("Survey")), ("item_price[0]", Text("1.00")), ("applet", Fresh("applet"))],
        ),
    )),
];

/// A service that does not find the credentials may count a failed login, so these probes come last.
const UNREADABLE: &[Probe] = &[
    spoilt("method-not-allowed", "look up with GET", Spoil::Get),
    probe(
        "duplicate-parameter",
        "send the same parameter twice",
        Request::Call(
            Gateway,
            "lookup",
            &[
                ("uniqueMerchantReference", Noted("unused reference")),
                ("uniqueMerchantReference", Noted("unused reference")),
            ],
        ),
        Reads::UnlessAs("duplicate-parameter", "lookup"),
    )
    .unreadable(),
    spoilt("too-many-parameters", "send 2,100 parameters", Spoil::ManyParameters),
    spoilt("malformed-body", "send a body with a broken percent-encoding", Spoil::PercentEncoding),
    spoilt("unsupported-content-type", "declare the form to be plain text", Spoil::ContentType),
    spoilt("body-too-large", "send a body of 1.1 MB", Spoil::LongBody),
    refusal(
        "wrong-password",
        "look up a reference with a wrong password",
        Request::Call(
            Gateway,
            "lookup",
            &[("uniqueMerchantReference", Noted("unused reference")), ("apiPassword", Text("survey-wrong-password"))],
        ),
    )
    .costs(Cost::FailedLogin)
    .unreadable(),
];

const fn spoilt(situation: &'static str, what: &'static str, spoil: Spoil) -> Probe {
    const LOOKUP: &[(&str, Value)] = &[("uniqueMerchantReference", Noted("unused reference"))];
    let request = Request::Spoilt(spoil, Gateway, "lookup", LOOKUP);
    probe(situation, what, request, Reads::UnlessAs(situation, "lookup")).unreadable()
}

const fn call(method: &'static str, parameters: &'static [(&'static str, Value)]) -> Request {
    Request::Call(Gateway, method, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::{Point, points};

    #[test]
    fn every_point_is_either_probed_or_undecidable() {
        for point in points() {
            let probed = all().any(|probe| probe.decides().contains(&point.name));
            let only_denied = point.name == "lookup.immediate";
            assert_eq!(probed && !only_denied, point.undecidable.is_none(), "{}", point.name);
        }
        for probe in all() {
            for name in probe.decides() {
                assert!(Point::named(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn prerequisites_of_a_probe_run_before_it() {
        let mut noted: Vec<&str> = vec!["session"];
        let mut names: Vec<&str> = vec![];
        for probe in all() {
            if let Reads::UnlessAs(_, other) = probe.reads {
                assert!(names.contains(&other), "{other}");
            }
            if let Request::Call(_, _, parameters) | Request::Spoilt(_, _, _, parameters) = &probe.request {
                for (_, value) in *parameters {
                    match value {
                        Noted(name) => assert!(noted.contains(name), "{name} of {}", probe.what),
                        Fresh(name) => noted.push(name),
                        _ => {}
                    }
                }
            }
            match probe.reads {
                Reads::Made(_, name) => noted.push(name),
                _ => names.push(probe.name),
            }
        }
    }

    #[test]
    fn a_survey_without_payments_moves_no_money() {
        let harmless: Vec<&Probe> = chosen(&Options::default(), true);
        // The only payment request of a survey without payments has no card.
        let moves = ["auth", "preauth", "capturepreauth", "refund", "authCardKey", "auth3DSecure", "initiate3DSecure"];
        for probe in harmless {
            if let Request::Call(_, method, _) | Request::Spoilt(_, _, method, _) = probe.request {
                assert!(!moves.contains(&method), "{}", probe.what);
                assert!(method != "authSessionKey" || probe.name == "session-has-no-card", "{}", probe.what);
            }
            assert!(!matches!(probe.request, Request::Form(_, Some(_))), "{}", probe.what);
        }
    }

    #[test]
    fn service_names_are_those_of_the_tables() {
        for service in [Token, Session, Gateway, Enterprise] {
            let known = pg_proto::model::METHODS.iter().any(|info| info.service.name == service.name());
            assert!(known, "{}", service.name());
        }
    }
}
