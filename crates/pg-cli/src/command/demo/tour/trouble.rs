//! Deliberate errors: a decline, a mistyped card number, misuse, a wrong signature.

use pg_crypto::{Diagnosis, ShaKey, diagnose, explain};
use pg_hyper::{Client, Error};
use pg_model::{Auth, CardDetails, ErrorCode, Outcome, TokenLookup};
use pg_proto::CardFormResult;
use pg_sandbox::cards::Scenario;

use super::{Seen, Tour, account, card, card_form, order, payments::CUSTOMER, pounds};
use crate::command::walkthrough::fields;

/// One digit off: its check digit is wrong.
const MISTYPED: &str = "4000000000001001";

const REFUSED_TEA: u64 = 250;

impl Tour<'_> {
    pub(super) async fn meet_trouble(&mut self) {
        self.step("Be declined", "The bank says no. That is an outcome, not an error.", Self::decline).await;
        self.step(
            "Mistype a card number",
            "The service sends the browser back to the card page; the data names the wrong field and the mistake.",
            Self::mistype,
        )
        .await;
        self.step(
            "Misuse a method",
            "pg reports every broken rule at once, with its source, and sends nothing.",
            Self::misuse,
        )
        .await;
        self.step(
            "Send a wrong signature, and explain it",
            "The key was read from a file together with a line break. Error 123 gives no reason, so pg finds it.",
            Self::sign_badly,
        )
        .await;
    }

    async fn decline(&mut self) -> Seen {
        let request = Auth::new(card(Scenario::Declined), order("Tea", REFUSED_TEA));
        match self.client.call(&request).await.map_err(|error| error.to_string())? {
            Outcome::Declined(not) => {
                Ok(format!("declined: {} ({})", pounds(REFUSED_TEA), not.transaction_status_code))
            }
            Outcome::Approved(_) => Err("approved, though this card should be declined".to_owned()),
            Outcome::Other(unknown) => Err(format!("the unknown status {}", unknown.transaction_status_code)),
        }
    }

    async fn mistype(&mut self) -> Seen {
        let location = self.post(MISTYPED).await?;
        if !location.starts_with(card_form::CARD_PAGE) {
            return Err("not sent back to the card page".to_owned());
        }
        let CardFormResult::Invalid(data) =
            self.client.account().redirect(&location).map_err(|error| error.to_string())?
        else {
            return Err("the data contains no errors".to_owned());
        };
        self.findings = fields::of_record(data.get());
        match data.get().errors.get("cardNumber") {
            Some(error) if error.error_code == ErrorCode::INVALID_CARD_NUMBER => {
                Ok(format!("back to the card page: {} on cardNumber", error.error_code))
            }
            _ => Err("no error 108 on cardNumber".to_owned()),
        }
    }

    async fn misuse(&mut self) -> Seen {
        let card = CardDetails::new("4000 0000", "13", "2049").cv2("12");
        let request = Auth::new(card, order("", REFUSED_TEA).merchant_reference("x".repeat(40)));
        let misuse = match self.client.call(&request).await {
            Err(Error::Misuse(misuse)) => misuse,
            Err(other) => return Err(other.to_string()),
            Ok(_) => return Err("the service accepted it".to_owned()),
        };
        self.look();
        let violations = misuse.violations().into_iter().flatten();
        self.findings = violations
            .map(|violation| {
                let told = violation.to_string();
                let what = told.strip_prefix(&format!("{}: ", violation.name)).unwrap_or(&told);
                (violation.name.clone(), what.to_owned())
            })
            .collect();
        match (self.findings.len(), self.exchanges.is_empty()) {
            (6, true) => Ok("6 broken rules, nothing sent".to_owned()),
            (count, true) => Err(format!("{count} broken rules instead of 6")),
            (_, false) => Err("something was sent".to_owned()),
        }
    }

    async fn sign_badly(&mut self) -> Seen {
        let key = self.merchant.sha_key.expose();
        let wrong = account(&self.base, self.merchant, &format!("{key}\n"));
        let client = Client::with_transport(wrong, self.wire.clone());
        match client.call(&TokenLookup::new().merchant_customer_reference(CUSTOMER)).await {
            Err(Error::Refused(refused)) if *refused.code() == ErrorCode::SIGNATURE_NOT_VERIFIED => {}
            Err(other) => return Err(other.to_string()),
            Ok(_) => return Err("the service accepted the wrong signature".to_owned()),
        }
        self.look();
        let sent = self.exchanges.last().map(|exchange| exchange.request.body().clone()).unwrap_or_default();
        let sent: Vec<(String, String)> = form_urlencoded::parse(&sent).into_owned().collect();
        let pairs: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let theirs = pairs.iter().find(|(name, _)| *name == "shaSignature").map_or("", |(_, value)| value);
        let key = ShaKey::new(key);
        let diagnosis = diagnose(&pairs, &key, theirs);
        self.findings = vec![
            ("hashed".to_owned(), explain(&pairs, &key).pre_image()),
            ("diagnosis".to_owned(), diagnosis.to_string()),
        ];
        match diagnosis {
            Diagnosis::Mistakes(_) => Ok("refused with 123; the line break after the key is found".to_owned()),
            _ => Err("the mistake was not found".to_owned()),
        }
    }
}
