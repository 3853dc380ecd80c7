//! A shop with one item for sale, which reads its account from the environment.

use std::{env, error::Error, fs, time::Duration};

use pg_proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::{
        Backoff,
        charge::{Charge, ChargeBounds, ChargeOutcome},
    },
    model::{Auth, CardDetails, CheckoutItem, Currency, Dialect, Flag, GetToken, Item, Order},
};

/// The account of `PG_BASE_URL`, `PG_API_KEY`, `PG_API_PASSWORD` and `PG_SHA_KEY`, which a sandbox prints when it starts, with
/// the dialect of the file `PG_DIALECT`, if it is set.
///
/// # Errors
/// When one of them is missing, the address would carry card data unprotected to another machine, or the file is invalid.
pub fn account() -> Result<Account, Box<dyn Error>> {
    let base = address("PG_BASE_URL")?;
    let credentials = Credentials::new(variable("PG_API_KEY")?, variable("PG_API_PASSWORD")?, variable("PG_SHA_KEY")?);
    let account = Account::new(base, credentials);
    Ok(match env::var_os("PG_DIALECT") {
        Some(file) => {
            let text = fs::read_to_string(&file).map_err(|error| format!("PG_DIALECT: {}: {error}", file.display()))?;
            account.with_dialect(Dialect::from_toml(&text)?)
        }
        None => account,
    })
}

/// The same account with version 5, for the hosted checkout: `PG_ENTERPRISE_BASE_URL`, `PG_ENTERPRISE_API_KEY` and
/// `PG_ENTERPRISE_API_PASSWORD`.
///
/// # Errors
/// As [`account`].
pub fn account_with_checkout() -> Result<Account, Box<dyn Error>> {
    let base = address("PG_ENTERPRISE_BASE_URL")?;
    let own = EnterpriseCredentials::new(variable("PG_ENTERPRISE_API_KEY")?, variable("PG_ENTERPRISE_API_PASSWORD")?);
    Ok(account()?.enterprise(base, own))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("set {name}; `pg sandbox` prints it"))
}

fn address(name: &str) -> Result<BaseUrl, Box<dyn Error>> {
    let base = BaseUrl::parse(&variable(name)?)?;
    if !base.is_private() {
        return Err(format!("{base} is neither https nor this machine, and card data must not travel there").into());
    }
    Ok(base)
}

/// A cart of £4.99 to be paid on the hosted page. The customer returns to the shop after the payment.
pub fn cart() -> GetToken {
    GetToken::new()
        .item(CheckoutItem::new("Tea", "4.99"))
        .currency("GBP")
        .success_url("https://shop.example/paid")
        .auto_redirect(Flag::YES)
}

/// A payment of £4.99 for the order `PG_ORDER`, else runtime-1, with a test card of the sandbox. A real shop never sees the card: it has
/// the customer's browser post it to a session, and pays with `AuthSessionKey`.
pub fn payment() -> Auth {
    let reference = env::var("PG_ORDER").unwrap_or_else(|_| "runtime-1".to_owned());
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference);
    Auth::new(CardDetails::new("4000000000001000", "12", "49"), order)
}

/// A charge of that payment at that account.
///
/// # Errors
/// As [`account`], and when the order breaks a rule.
pub fn charge() -> Result<Charge<Auth>, Box<dyn Error>> {
    Ok(Charge::new(account()?, payment(), bounds())?)
}

/// The default bounds with short pauses: the sandbox is local, and an example should be quick.
#[must_use]
pub fn bounds() -> ChargeBounds {
    let pauses = Backoff::new(Duration::from_millis(40), Duration::from_secs(1));
    ChargeBounds::default().pauses(pauses)
}

/// Prints the outcome in one line.
pub fn report(charged: &ChargeOutcome) {
    match charged {
        ChargeOutcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
        ChargeOutcome::Declined(not) => println!("declined: {}", not.transaction_status),
        ChargeOutcome::Refused(refused) => println!("refused: {refused}"),
        ChargeOutcome::NotSent => println!("not sent"),
        ChargeOutcome::Unknown { why, .. } => println!("unknown: {why}"),
    }
}
