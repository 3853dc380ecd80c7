//! The program of README.md. A test compares the two and runs it.
//!
//! ```text
//! cargo run --bin pg -- sandbox             in one shell
//! cargo run -p pg-tests --example first_payment       in another
//! ```

use std::error::Error;

use pg_hyper::{
    Client, DurableFile,
    proto::{
        Account, BaseUrl, Credentials,
        machine::charge::ChargeOutcome,
        model::{Auth, CardDetails, Currency, Item, Order},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // With 4000000000002008 the sandbox declines.
    pay("http://127.0.0.1:8480", "4000000000001000", DurableFile::new("order-7.json")).await
}

/// Pays for order 7, once.
pub async fn pay(service: &str, card: &str, file: DurableFile) -> Result<(), Box<dyn Error>> {
    // The account that every sandbox has.
    let (key, password) = ("MainSandboxApiKey000000000000000", "MainSandboxApiPassword0000000000");
    let credentials = Credentials::new(key, password, "MainSandboxShaKey000000000000000");
    let account = Account::new(BaseUrl::parse(service)?, credentials);
    // Without a dialect, a decline is an unknown outcome: the documents list no code of a decline.
    let client = Client::new(account.with_dialect(pg_sandbox::dialect()))?;

    // The service accepts this reference once, and finds the payment by it.
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7");
    let payment = Auth::new(CardDetails::new(card, "12", "49"), order);

    // The charge is saved before each request is sent. After a crash it continues from the file.
    let charging = match file.saved()? {
        Some(saved) => client.resume_charge(&saved, Some(payment))?,
        None => client.charge(payment)?,
    };
    match charging.store_in(file.clone()).await {
        ChargeOutcome::Approved(paid) => println!("paid, transaction {}", paid.transaction_key),
        ChargeOutcome::Declined(not) => println!("declined: {}", not.transaction_status),
        ChargeOutcome::Refused(refused) => println!("refused: {refused}"),
        ChargeOutcome::NotSent => println!("not sent, nothing was charged"),
        ChargeOutcome::Unknown { why, reconcile } => {
            // The file remains, so the next run looks the payment up and does not begin another one.
            println!("outcome unknown: {why}; run this again later, or ask the operator: {reconcile}");
            return Ok(());
        }
    }
    // The outcome is certain and on record: a charge that has ended is not resumed.
    Ok(file.remove()?)
}
