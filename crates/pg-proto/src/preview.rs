//! A masked preview of a request, for a check before it is sent.

use std::{
    collections::{HashMap, HashSet},
    fmt, iter,
    sync::LazyLock,
};

use bytes::Bytes;
use pg_model::{
    METHODS,
    field::{Field, item_number},
    format::Format,
    mask,
};

/// Parameters that authenticate the request, whose values are hidden.
const CREDENTIALS: [&str; 4] = ["apiKey", "apiPassword", "api_key", "api_password"];

/// A request in a form that may be shown. Card numbers are cut to the first six and last four digits. CV2s, credentials
/// and other secrets are hidden.
///
/// `Display` is one line for the address and one for each parameter.
///
/// ```
/// # use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::model::{Auth, CardDetails, Currency, Item, Order};
/// use pg_proto::Preview;
/// # let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("k", "p", "s"));
///
/// let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
/// let request = account.request(&Auth::new(CardDetails::new("4000000000001000", "12", "49").cv2("123"), order))?;
/// let shown = Preview::of(&request).to_string();
/// assert!(shown.starts_with("POST https://gateway.example/v3/transaction/auth/xml\n  apiKey=***\n"));
/// assert!(shown.contains("cardNumber=400000******1000") && shown.contains("cardCV2=***"));
/// # Ok::<(), pg_proto::Misuse>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// Method and address.
    pub target: String,
    /// Names, without card numbers, and masked values, in the order of the body.
    pub parameters: Vec<(String, String)>,
}

impl Preview {
    /// Returns the preview of a request.
    #[must_use]
    pub fn of(request: &http::Request<Bytes>) -> Self {
        let parameters = form_urlencoded::parse(request.body())
            .map(|(name, value)| {
                let shown = shown(&name, &value);
                (mask::text(&name), shown)
            })
            .collect();
        Self { target: format!("{} {}", request.method(), request.uri()), parameters }
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, "\n  {name}={value}"))
    }
}

/// Returns a parameter's value, masked as needed.
#[must_use]
pub fn shown(name: &str, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    match rule(name) {
        Rule::Text => mask::text(value),
        Rule::Hidden => "***".to_owned(),
        Rule::CardNumber => mask::card_number(value),
        Rule::Signature => value.chars().take(8).chain(['…']).collect(),
    }
}

/// Returns whether a value of this name is shown in another form whatever it is.
pub(crate) fn is_masked(name: &str) -> bool {
    rule(name) != Rule::Text
}

/// How the value of a name is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Text,
    Hidden,
    CardNumber,
    Signature,
}

impl Rule {
    const fn of(field: &Field) -> Self {
        match field.format {
            Format::CardNumber => Self::CardNumber,
            _ if field.sensitive => Self::Hidden,
            _ => Self::Text,
        }
    }
}

/// The parameter names of all methods: exact names, with `{n}` for the number of an item, and prefixes.
struct Names {
    whole: HashMap<&'static str, Rule>,
    prefixes: Vec<(&'static str, Rule)>,
    /// The sensitive names in lower case and without separators.
    sensitive: HashSet<String>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { whole: HashMap::new(), prefixes: Vec::new(), sensitive: HashSet::new() };
    for field in METHODS.iter().flat_map(|info| info.fields) {
        let rule = Rule::of(field);
        for name in iter::once(&field.wire).chain(field.aliases) {
            if let Some(prefix) = name.strip_suffix('*') {
                names.prefixes.push((prefix, rule));
            } else {
                // If methods differ, the name counts as a secret.
                let known = names.whole.entry(name).or_insert(rule);
                *known = if *known == Rule::Text { rule } else { *known };
            }
        }
        if field.sensitive {
            names.sensitive.insert(mask::plain_name(field.wire));
        }
    }
    names
});

/// Whether an unknown name may be a misspelt secret: `cardcv2`, `card-number`, `security_code`.
fn looks_secret(name: &str) -> bool {
    mask::names_a_secret(name) || NAMES.sensitive.contains(&mask::plain_name(name))
}

fn rule(name: &str) -> Rule {
    if CREDENTIALS.contains(&name) {
        return Rule::Hidden;
    }
    if name == "shaSignature" {
        return Rule::Signature;
    }
    known_rule(name).unwrap_or_else(|| if looks_secret(name) { Rule::Hidden } else { Rule::Text })
}

/// Returns how the value of a name is shown in any method; `None` for an unknown name.
fn known_rule(name: &str) -> Option<Rule> {
    if let Some(rule) = NAMES.whole.get(name) {
        return Some(*rule);
    }
    let of_prefix = NAMES.prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, rule)| *rule);
    // The merchant chooses these names, perhaps for a secret, such as `collectCV2`.
    let of_prefix = of_prefix.map(|rule| if looks_secret(name) { Rule::Hidden } else { rule });
    of_prefix.or_else(|| {
        let start = name.find(|letter: char| letter.is_ascii_digit())?;
        let (before, rest) = name.split_at(start);
        let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        item_number(&rest[..rest.len() - after.len()])?;
        NAMES.whole.get(&*format!("{before}{{n}}{after}")).copied()
    })
}
