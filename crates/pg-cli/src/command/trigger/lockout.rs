//! Wrong passwords, and the minute of the lockout.

use pg_hyper::{Client, Error};
use pg_model::{ErrorCode, TokenLookup};

use super::story::{Seen, Story, refused};
use crate::command::walkthrough::wire::Wire;

/// The service locks an address out after more than five failures (spec 1 §7).
const MOST_ATTEMPTS: usize = 8;
const ONE_MINUTE: u64 = 61;

impl Story {
    pub(super) async fn lockout(&mut self) {
        self.step(
            "Send wrong passwords",
            "More than five failures lock the address out, for every account. pg's client stops after one.",
            Self::wrong_passwords,
        )
        .await;
        self.step("Use the right password", "Still refused, until the minute is over.", async |story| {
            ask(&story.client)
                .await
                .map_or_else(|error| refused::<()>(Err(error)), |()| Err("not locked out".to_owned()))
        })
        .await;
        self.step(
            "Let a minute pass",
            "This advances the sandbox's clock, which all parts of the sandbox share.",
            async |story| {
                story.advance(ONE_MINUTE).await?;
                Ok("61 seconds later".to_owned())
            },
        )
        .await;
        self.step("Use the right password again", "The lockout is over.", async |story| {
            // A separate client: the first client would wait a minute on the real clock.
            ask(&story.another_client()).await.map_err(|error| error.to_string())?;
            Ok("answered".to_owned())
        })
        .await;
    }

    async fn wrong_passwords(&mut self) -> Seen {
        let mut codes = Vec::new();
        for _ in 0..MOST_ATTEMPTS {
            // A new client each time: one client would stop after the first failure.
            match ask(&self.with_password("WrongPassword0000000000000000000")).await {
                Err(Error::Refused(refused)) => codes.push(refused.code().clone()),
                Err(other) => return Err(other.to_string()),
                Ok(()) => return Err("the wrong password was accepted".to_owned()),
            }
            if codes.last() == Some(&ErrorCode::IP_BLOCKED_ONE_MINUTE) {
                let codes: Vec<&str> = codes.iter().map(ErrorCode::as_str).collect();
                return Ok(format!("locked out after {} attempts: {}", codes.len(), codes.join(" ")));
            }
        }
        Err(format!("not locked out after {MOST_ATTEMPTS} attempts"))
    }
}

/// Returns a call that changes nothing.
async fn ask(client: &Client<Wire>) -> Result<(), Error> {
    client.call(&TokenLookup::new().merchant_customer_reference("trigger")).await.map(drop)
}
