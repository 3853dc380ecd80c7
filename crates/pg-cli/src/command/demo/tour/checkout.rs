//! The hosted checkout: a token, its page, its callback, and operations on the payment (spec 3).

use http::StatusCode;
use pg_model::{
    CancelToken, CheckoutItem, Currency, EnterpriseCancel, EnterpriseCapture, EnterpriseRefund, EnterpriseResult,
    EnterpriseTransactionLookup, EnterpriseTransactionType, Flag, GetToken, Outcome, Repeat, SystemAction,
    TransactionKey, Url,
};

use super::{Seen, Tour, left};
use crate::command::walkthrough::{
    browser,
    page::Page,
    payment::{self, CANCEL_PAGE, SUCCESS_PAGE},
};

/// The total of the first token: two teas and a spoon.
const TOTAL: &str = "10.98";
const REFUNDED: &str = "4.99";

// A deposit in a currency with three decimals, and its later operations.
const DEPOSIT: &str = "1.250";
const CAPTURED: &str = "0.750";
const RELEASED: &str = "0.500";

/// The inputs of the payment page.
const INPUTS: [&str; 6] =
    ["cardNumber", "cardExpiry", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "cardholderName"];

/// Results of earlier steps for later ones.
#[derive(Default)]
pub(super) struct Left {
    page: Option<Url>,
    payment: Option<TransactionKey>,
    reservation: Option<TransactionKey>,
}

impl Tour<'_> {
    pub(super) async fn sell_by_hosted_checkout(&mut self) {
        self.step(
            "Create a checkout token (gettoken)",
            "Version 5 writes amounts as decimals, signs nothing and answers in XML. The token can be paid once.",
            Self::make_token,
        )
        .await;
        self.step(
            "Pay on the hosted page",
            "The customer opens the page, enters a card, and is sent to the success page with a trans_key.",
            Self::pay_on_page,
        )
        .await;
        self.step(
            "Receive the callback, and look it up (transaction_lookup)",
            "Any visitor can open a success page, and the callback is not signed: only the lookup counts.",
            Self::look_up_hosted,
        )
        .await;
        self.step("Open the page again", "It is already paid: nothing is left to pay.", Self::open_again).await;
        self.step("Refund part of it (refund)", "In decimals.", Self::refund_hosted).await;
        self.step(
            "Reserve on the hosted page (PreAuth)",
            "In Bahraini dinars, which have three decimals.",
            Self::reserve_hosted,
        )
        .await;
        self.step(
            "Capture one reservation, cancel another (capture, cancel)",
            "Each operation ends its reservation, whatever the value; the second reserves the same card again \
            (repeat).",
            Self::capture_hosted,
        )
        .await;
        self.step("Cancel a token (canceltoken)", "The token's page says that the link has expired.", Self::withdraw)
            .await;
    }

    async fn make_token(&mut self) -> Seen {
        let request = token()
            .item(CheckoutItem::new("Tea", "4.99").quantity(2))
            .item(CheckoutItem::new("Spoon", "1"))
            .token_uses(1)
            .callback_url(self.listener.url("paid"));
        let made = self.client.call(&request).await.map_err(|error| error.to_string())?;
        self.checkout.page = Some(made.token.redemption_url);
        Ok(format!("a page for the customer, valid for {} payment", made.token.uses))
    }

    async fn pay_on_page(&mut self) -> Seen {
        let address = left(&self.checkout.page, "token")?;
        let (key, page) = self.pay_page(&address).await?;
        self.checkout.payment = Some(key);
        Ok(format!("“{}”, paid, 303 to the success page", page.heading))
    }

    async fn look_up_hosted(&mut self) -> Seen {
        let key = left(&self.checkout.payment, "payment")?;
        let callback = self.callback().await?;
        let claimed = form_urlencoded::parse(callback.body()).find(|(name, _)| name == "trans_key");
        if claimed.is_none_or(|(_, claimed)| claimed != key.as_str()) {
            return Err("the callback names another payment".to_owned());
        }
        let request = EnterpriseTransactionLookup::new(key);
        let found = self.client.call(&request).await.map_err(|error| error.to_string())?;
        let seen = format!("{}: {} {}", found.status, found.value, found.currency);
        if found.status == "Success" && found.value == TOTAL { Ok(seen) } else { Err(seen) }
    }

    async fn open_again(&mut self) -> Seen {
        let address = left(&self.checkout.page, "token")?;
        self.gone(&address).await
    }

    async fn refund_hosted(&mut self) -> Seen {
        let request = EnterpriseRefund::new(left(&self.checkout.payment, "payment")?, REFUNDED);
        settled(self.client.call(&request).await, &SystemAction::REFUND, REFUNDED)
    }

    async fn reserve_hosted(&mut self) -> Seen {
        let request = token()
            .item(CheckoutItem::new("Deposit", DEPOSIT))
            .currency(Currency::BHD)
            .trans_type(EnterpriseTransactionType::REQUEST_PRE_AUTH);
        let made = self.client.call(&request).await.map_err(|error| error.to_string())?;
        let (key, page) = self.pay_page(&made.token.redemption_url).await?;
        self.checkout.reservation = Some(key);
        Ok(format!("“{}”, reserved", page.heading))
    }

    async fn capture_hosted(&mut self) -> Seen {
        let key = left(&self.checkout.reservation, "reservation")?;
        let capture = self.client.call(&EnterpriseCapture::new(key.clone(), CAPTURED)).await;
        let captured = settled(capture, &SystemAction::CAPTURE, CAPTURED)?;
        let again = Repeat::new(key, EnterpriseTransactionType::REQUEST_PRE_AUTH, RELEASED);
        let again = self.client.call(&again).await.map_err(|error| error.to_string())?;
        let key = again.record().trans_key.clone();
        let cancel = self.client.call(&EnterpriseCancel::new(key, RELEASED)).await;
        let released = settled(cancel, &SystemAction::CANCEL, RELEASED)?;
        Ok(format!("{captured}, {released}"))
    }

    async fn withdraw(&mut self) -> Seen {
        let request = token().item(CheckoutItem::new("Tea", "4.99"));
        let made = self.client.call(&request).await.map_err(|error| error.to_string())?.token;
        let cancelled = self.client.call(&CancelToken::new(made.token_id)).await.map_err(|error| error.to_string())?;
        if cancelled.status != Flag::YES {
            return Err("the token was not cancelled".to_owned());
        }
        self.gone(&made.redemption_url).await
    }

    /// Enters a card on the payment page and pays. Returns the key for the success page.
    async fn pay_page(&self, address: &Url) -> Result<(TransactionKey, Page), String> {
        let (status, page) = browser::open(&self.wire, address.as_str()).await?;
        if status != StatusCode::OK || page.inputs != INPUTS {
            return Err(format!("HTTP {} and the inputs {:?}", status.as_u16(), page.inputs));
        }
        let key = payment::pay_on_page(&self.wire, address, &page).await?;
        Ok((key, page))
    }

    /// Returns the message of a page that can no longer be paid.
    async fn gone(&self, address: &Url) -> Seen {
        let (status, page) = browser::open(&self.wire, address.as_str()).await?;
        let seen = format!("HTTP {}: “{}”", status.as_u16(), page.heading);
        if status == StatusCode::GONE && page.inputs.is_empty() { Ok(seen) } else { Err(seen) }
    }
}

/// Returns a token whose page redirects the customer after the payment.
fn token() -> GetToken {
    GetToken::new().success_url(SUCCESS_PAGE).cancel_url(CANCEL_PAGE).auto_redirect(Flag::YES)
}

/// Returns an operation that must succeed, with this amount.
fn settled(result: Result<Outcome<EnterpriseResult>, pg_hyper::Error>, action: &SystemAction, amount: &str) -> Seen {
    let outcome = result.map_err(|error| error.to_string())?;
    let approved = outcome.is_approved();
    let record = outcome.into_record();
    let seen = format!("{} {}", record.system_action, record.trans_value);
    let expected = approved && record.system_action == *action && record.trans_value.as_str() == amount;
    if expected { Ok(seen) } else { Err(format!("{seen}, status {}", record.status)) }
}
