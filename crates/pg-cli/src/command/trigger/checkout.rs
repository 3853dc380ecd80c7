//! The hosted checkout: paid, with or without a callback, and looked up.

use pg_model::{CheckoutItem, EnterpriseTransactionLookup, Flag, GetToken, Url};
use serde_json::json;

use super::story::{Seen, Story};
use crate::command::walkthrough::{
    browser,
    payment::{self, CANCEL_PAGE, SUCCESS_PAGE},
};

impl Story {
    /// A checkout whose callback arrives normally, is lost (`fail`), or arrives twice.
    pub(super) async fn checkout(&mut self, misbehaviour: Option<&'static str>) {
        let mut page = None;
        let mut key = None;
        if let Some(kind) = misbehaviour {
            self.step(
                "Make the next callback misbehave",
                "Applies to the next callback of this sandbox.",
                async move |story| {
                    let asked = json!({ "kind": kind, "times": 1 });
                    story
                        .control
                        .post("callbacks/behaviour", &asked)
                        .await
                        .map_err(|failure| failure.message().to_owned())?;
                    story
                        .findings
                        .push(("equivalent command".to_owned(), format!("pg sandbox callbacks misbehave {kind}")));
                    Ok(format!("the next callback: {kind}"))
                },
            )
            .await;
        }
        self.step(
            "Create a checkout token",
            "enterprise/gettoken: returns the page for the customer.",
            async |story| {
                let request = GetToken::new()
                    .item(CheckoutItem::new("Tea", "4.99").quantity(2))
                    .success_url(SUCCESS_PAGE)
                    .cancel_url(CANCEL_PAGE)
                    .auto_redirect(Flag::YES)
                    .trans_reference(story.reference.as_str())
                    .callback_url(story.callback_address("paid"));
                page = Some(story.client.call(&request).await.map_err(|error| error.to_string())?.token.redemption_url);
                Ok("a payment page".to_owned())
            },
        )
        .await;
        let Some(page) = page else { return };
        self.step("Pay on the page", "The customer enters a card and is sent to the success page.", async |story| {
            key = Some(pay(story, &page).await?);
            Ok("paid, sent to the success page with a trans_key".to_owned())
        })
        .await;
        let Some(key) = key else { return };
        self.keep(&key);
        self.called_back(&key, misbehaviour).await;
        self.step(
            "Look it up",
            "enterprise/transaction_lookup: a callback is unsigned, so only the lookup counts.",
            async |story| {
                let found = story.client.call(&EnterpriseTransactionLookup::new(key.as_str())).await;
                let found = found.map_err(|error| error.to_string())?;
                Ok(format!("{}: {} {}", found.status, found.value, found.currency))
            },
        )
        .await;
        if misbehaviour == Some("fail") {
            self.redeliver(&key).await;
        }
    }

    async fn called_back(&mut self, key: &str, misbehaviour: Option<&'static str>) {
        if misbehaviour == Some("fail") {
            self.step("Wait for the callback", "It is recorded and never sent.", async |story| {
                let callback = story.journaled(key).await?;
                let status = callback["status"].as_str().unwrap_or("missing").to_owned();
                if status == "failed" {
                    Ok("no callback arrives: failed".to_owned())
                } else {
                    Err(format!("the callback is {status}"))
                }
            })
            .await;
            return;
        }
        let times = if misbehaviour == Some("twice") { 2 } else { 1 };
        for attempt in 1..=times {
            self.step(
                "Receive the callback",
                "The service posts the trans_key. Two deliveries of a callback have the same pg-callback header.",
                async |story| {
                    let Some(callback) = story.callback(key, attempt).await? else {
                        return Ok("called back".to_owned());
                    };
                    let claimed = form_urlencoded::parse(callback.body()).find(|(name, _)| name == "trans_key");
                    let claimed = claimed.is_some_and(|(_, claimed)| claimed == key);
                    if claimed {
                        Ok("callback received for that payment".to_owned())
                    } else {
                        Err("the callback names another payment".to_owned())
                    }
                },
            )
            .await;
        }
    }

    async fn redeliver(&mut self, key: &str) {
        self.step("Redeliver the callback", "A shop has to handle late callbacks.", async |story| {
            let callback = story.journaled(key).await?;
            let id = callback["id"].as_str().unwrap_or_default().to_owned();
            let attempts = callback["attempts"].as_u64().unwrap_or_default();
            let path = format!("callbacks/{id}/redeliver");
            story.control.post(&path, &json!({})).await.map_err(|failure| failure.message().to_owned())?;
            story.findings.push(("equivalent command".to_owned(), format!("pg sandbox callbacks redeliver {id}")));
            story.callback(key, attempts + 1).await?;
            Ok("called back".to_owned())
        })
        .await;
    }
}

/// Pays on the payment page. Returns the key for the success page.
async fn pay(story: &Story, address: &Url) -> Seen {
    let (status, page) = browser::open(&story.wire, address.as_str()).await?;
    if page.inputs.is_empty() {
        return Err(format!("HTTP {}: {}", status.as_u16(), page.heading));
    }
    Ok(payment::pay_on_page(&story.wire, address, &page).await?.as_str().to_owned())
}
