//! The introduction of the document.

use super::super::{node::Node, tables::Tables};

const DESCRIPTION: &str = "\
A card payment service: stored cards and their account updater, card entry in the customer's browser, the payment \
gateway (all version 3), and hosted checkout with utilities (version 5).

**Requests** are `POST` with a form in the body. The credentials are parameters of that form: `apiKey`, `apiPassword` \
and `shaSignature` in version 3, `api_key`, `api_password` and `version` in version 5. The card form that a browser \
posts has none of them; its `sessionKey` stands in their place.

**Signature** (spec 1 §5): order all parameters but `shaSignature` by name without regard to capitals, leave out those \
without a value, write `name=value` and the secret SHA key for each, one after the other, and take the SHA-512 of it in \
hexadecimal digits.

**Empty values** break no rule of an optional text, so its pattern admits them. They are not the same as a missing parameter: \
`updateCardKeyDetails` erases the stored value. A number, an amount, a currency, a time, a flag or a choice from a list must not be empty: a service \
that drops empty values would use the default, and refund everything for an empty `transactionValue`. So send no parameter that you have no \
value for. The words in a list of values are also accepted in other letter cases, which the lists do not repeat.

**Replies** of version 3 are XML or JSON, as the end of the path says; those of version 5 are XML. Fields and codes that \
are not listed here may occur.

**Extensions**: `x-source` is the document and section that a fact is from, `x-spec` what it says there about the form \
of a value, `x-retry` whether a request may be sent again if it is unknown whether it was executed, `x-rust` the Rust \
name, `x-sensitive` a value that must not be shown, `x-default` what the service assumes, in words, `x-codes` the codes \
that are known.";

pub(super) fn info() -> Node {
    Node::map()
        .with("title", "Card payment service")
        .with("version", "v3 and v5")
        .with("summary", "Tokens, client sessions, payment gateway, hosted checkout and utilities")
        .with("description", DESCRIPTION)
        .with("license", Node::map().with("name", "MIT OR Apache-2.0").with("identifier", "MIT OR Apache-2.0"))
}

/// The address of one version; by default that of a sandbox on this machine.
pub(super) fn server(version: u8) -> Node {
    let (name, default) = if version == 5 {
        ("enterprise_base_url", "http://127.0.0.1:8480/enterprise")
    } else {
        ("base_url", "http://127.0.0.1:8480")
    };
    let variable = Node::map().with("default", default).with(
        "description",
        format!("Address of version {version} in the environment that is used; live and staging have credentials of their own."),
    );
    Node::map()
        .with("url", format!("{{{name}}}"))
        .with("description", format!("Version {version}"))
        .with("variables", Node::map().with(name, variable))
}

pub(super) fn tags(tables: &Tables) -> Node {
    let tags = tables.services.iter().map(|service| {
        let info = &service.info;
        Node::map()
            .with("name", &info.name)
            .with("description", format!("{}. {}", info.title, info.doc))
            .with("x-source", &info.source)
    });
    Node::List(tags.collect())
}
