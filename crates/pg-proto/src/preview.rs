//! What a request will send, masked, for people to look at before it is sent.

use std::fmt;

use bytes::Bytes;
use pg_model::{METHODS, field::Field, format::Format, mask};

/// Parameters that authenticate: nothing of them is shown.
const CREDENTIALS: [&str; 4] = ["apiKey", "apiPassword", "api_key", "api_password"];

/// A request as it may be shown: address, and parameters with card numbers cut to first six and last four, and CV2s,
/// credentials and other secrets hidden.
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
pub struct Preview {
    /// Method and address.
    pub target: String,
    /// Names, and values as they may be shown, in the order of the body.
    pub parameters: Vec<(String, String)>,
}

impl Preview {
    /// What a request will send.
    #[must_use]
    pub fn of(request: &http::Request<Bytes>) -> Self {
        let parameters = form_urlencoded::parse(request.body())
            .map(|(name, value)| {
                let shown = shown(&name, &value);
                (name.into_owned(), shown)
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

/// A parameter's value as it may be shown.
#[must_use]
pub fn shown(name: &str, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    if CREDENTIALS.contains(&name) {
        return "***".to_owned();
    }
    if name == "shaSignature" {
        return value.chars().take(8).chain(['…']).collect();
    }
    match field(name) {
        Some(field) if field.format == Format::CardNumber => mask::card_number(value),
        Some(field) if field.sensitive => "***".to_owned(),
        None if looks_secret(name) => "***".to_owned(),
        _ => mask::text(value),
    }
}

/// Whether a name that no method has may be a secret's, misspelt: `cardcv2`, `cvv`, `apipassword`.
fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["cv2", "cvv", "cvc", "pass", "secret", "apikey", "api_key", "shakey", "birth"];
    words.iter().any(|word| name.contains(word))
        || METHODS
            .iter()
            .flat_map(|info| info.fields)
            .any(|field| field.sensitive && field.wire.eq_ignore_ascii_case(&name))
}

/// The row of a name, whichever method has it; a sensitive one where they differ.
fn field(name: &str) -> Option<&'static Field> {
    let mut rows = METHODS.iter().filter_map(|info| info.field(name));
    let first = rows.next()?;
    Some(if first.sensitive { first } else { rows.find(|row| row.sensitive).unwrap_or(first) })
}
