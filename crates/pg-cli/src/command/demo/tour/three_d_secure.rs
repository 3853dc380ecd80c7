//! 3-D Secure: by session and by card key, every answer of the challenge page, and a key that is used twice (spec 2
//! §3.3).

use pg_hyper::Error;
use pg_model::{
    AuthThreeDSecure, AuthenticationKey, CardKey, GetAuthenticationStatus, Initiate, InitiateThreeDSecureCardKey,
    InitiateThreeDSecureSessionKey, LiabilityShift, Outcome, PreauthThreeDSecure, StatusCode, ThreeDSecureInitiation,
    TokeniseTransactionKey, Url,
};
use pg_sandbox::{
    cards::Scenario,
    codes::{SandboxAuthenticationCode, SandboxErrorCode, SandboxStatusCode},
};

use super::{
    Seen, Tour, approved,
    card_form::{ERROR_PAGE, REVIEW_PAGE},
    left, number, order, pounds,
};
use crate::command::walkthrough::browser;

/// The return URL of the customer.
const RETURN_PAGE: &str = "https://shop.example/authenticated?order=8";

/// The buttons of the challenge page, in their order.
const BUTTONS: [&str; 3] = ["authenticate", "fail", "abandon"];

const PRICE: u64 = 8900;

/// Results of earlier steps for later ones.
#[derive(Default)]
pub(super) struct Left {
    /// The current authentication, and its page.
    opened: Option<(AuthenticationKey, Url)>,
    card: Option<CardKey>,
}

impl Tour<'_> {
    pub(super) async fn authenticate_customers(&mut self) {
        self.step(
            "Initiate 3-D Secure by session",
            "A customer posts a card whose bank asks for a challenge: initiate3DSecureSessionKey returns the page for it.",
            Self::initiate_by_session,
        )
        .await;
        self.step(
            "Authenticate",
            "The customer opens the page, presses the first button, and is sent back. getAuthenticationStatus returns \
            the result.",
            Self::press_authenticate,
        )
        .await;
        self.step(
            "Pay with the authentication (auth3DSecure)",
            "Now the bank bears the risk of a chargeback. The card is stored for the next steps.",
            Self::pay_authenticated,
        )
        .await;
        self.step("Use its key twice", "An authentication is valid for one payment.", Self::use_key_twice).await;
        self.step(
            "Fail the challenge, by card key",
            "initiate3DSecureCardKey with the stored card, and the second button. The shop charges anyway; this bank \
            then declines.",
            Self::press_fail,
        )
        .await;
        self.step(
            "Pay too early, then abandon the challenge",
            "preauth3DSecure before the customer has answered is refused; after the third button this bank declines.",
            Self::press_abandon,
        )
        .await;
    }

    async fn initiate_by_session(&mut self) -> Seen {
        let session = self.client.call(&Initiate::new(ERROR_PAGE)).await.map_err(|error| error.to_string())?;
        self.session = Some(session.session_key.clone());
        let location = self.post(number(Scenario::ChallengeRequired)).await?;
        if !location.starts_with(REVIEW_PAGE) {
            return Err("sent back to the card page, though everything was valid".to_owned());
        }
        let request = InitiateThreeDSecureSessionKey::new(session.session_key, order("Bicycle", PRICE), RETURN_PAGE);
        self.opened(self.client.call(&request).await)?;
        Ok("607, an authentication key and a page".to_owned())
    }

    async fn press_authenticate(&mut self) -> Seen {
        self.press(BUTTONS[0]).await?;
        self.status(StatusCode::THREE_D_SECURE_SUCCESS.as_str(), LiabilityShift::SHIFTED).await
    }

    async fn pay_authenticated(&mut self) -> Seen {
        let (key, _) = left(&self.secure.opened, "authentication")?;
        let paid = approved(self.client.call(&AuthThreeDSecure::new(key)).await)?;
        let stored = self.client.call(&TokeniseTransactionKey::new(paid.transaction_key)).await;
        let stored = stored.map_err(|error| error.to_string())?;
        self.secure.card = stored.card_key_details.first().map(|one| one.card_key.clone());
        Ok(format!("approved: {} ({})", pounds(PRICE), paid.transaction_status_code))
    }

    async fn use_key_twice(&mut self) -> Seen {
        let (key, _) = left(&self.secure.opened, "authentication")?;
        let again = self.client.call(&AuthThreeDSecure::new(key)).await;
        refused(again, &SandboxErrorCode::AUTHENTICATION_ALREADY_USED)
    }

    async fn press_fail(&mut self) -> Seen {
        self.initiate_by_card_key().await?;
        self.press(BUTTONS[1]).await?;
        let seen = self.status(StatusCode::THREE_D_SECURE_FAILED.as_str(), LiabilityShift::MERCHANT_LIABLE).await?;
        let (key, _) = left(&self.secure.opened, "authentication")?;
        let code = declined(self.client.call(&AuthThreeDSecure::new(key)).await)?;
        Ok(format!("{seen}; auth3DSecure declined: {code}"))
    }

    async fn press_abandon(&mut self) -> Seen {
        self.initiate_by_card_key().await?;
        let (key, _) = left(&self.secure.opened, "authentication")?;
        let request = PreauthThreeDSecure::new(key);
        let early = self.client.call(&request).await;
        let early = refused(early, &SandboxErrorCode::AUTHENTICATION_NOT_FINISHED)?;
        self.press(BUTTONS[2]).await?;
        let abandoned = SandboxAuthenticationCode::AUTHENTICATION_ABANDONED;
        let seen = self.status(abandoned.as_str(), LiabilityShift::MERCHANT_LIABLE).await?;
        let code = declined(self.client.call(&request).await)?;
        Ok(format!("{early}; {seen}; declined: {code}"))
    }

    async fn initiate_by_card_key(&mut self) -> Result<(), String> {
        let card = left(&self.secure.card, "card key")?;
        let request = InitiateThreeDSecureCardKey::new(card, order("Bicycle bell", PRICE))
            .card_cv2("123")
            .return_url(RETURN_PAGE);
        self.opened(self.client.call(&request).await)
    }

    /// Records an initiation that must succeed.
    fn opened(&mut self, result: Result<ThreeDSecureInitiation, Error>) -> Result<(), String> {
        let opened = result.map_err(|error| error.to_string())?;
        if opened.transaction_status_code != StatusCode::THREE_D_SECURE_SUCCESS {
            return Err(format!("not initiated: {} {}", opened.transaction_status_code, opened.transaction_status));
        }
        self.secure.opened = Some((opened.authentication_key, opened.authentication_url));
        Ok(())
    }

    /// Opens the challenge page and presses one of its buttons, which redirects to the shop.
    async fn press(&self, button: &str) -> Result<(), String> {
        let (_, address) = left(&self.secure.opened, "authentication")?;
        let (_, page) = browser::open(&self.wire, address.as_str()).await?;
        if page.buttons != BUTTONS {
            return Err(format!("the page's buttons are {:?}", page.buttons));
        }
        let location = browser::submit(&self.wire, address.as_str(), &page, &[("outcome", button)]).await?;
        if location == RETURN_PAGE { Ok(()) } else { Err(format!("sent to {location}")) }
    }

    /// Checks the result of getAuthenticationStatus.
    async fn status(&self, code: &str, liability: LiabilityShift) -> Seen {
        let (key, _) = left(&self.secure.opened, "authentication")?;
        let status = self.client.call(&GetAuthenticationStatus::new(key)).await.map_err(|error| error.to_string())?;
        let seen = format!("{}, liability shift {}", status.transaction_status_code, status.liability_shift);
        let expected = status.transaction_status_code.as_str() == code && status.liability_shift == liability;
        if expected { Ok(seen) } else { Err(format!("{seen} instead of {code} and {liability}")) }
    }
}

/// Checks that a call is refused with this code, and returns the finding.
fn refused<T>(result: Result<T, Error>, expected: &SandboxErrorCode) -> Seen {
    let refusal = match result {
        // A used authentication has already paid, so the client reports the outcome as unknown.
        Err(Error::Unknown { cause, .. }) => Err(*cause),
        other => other,
    };
    match refusal {
        Err(Error::Refused(refused)) if refused.code().as_str() == expected.as_str() => {
            Ok(format!("refused: {}", expected.as_str()))
        }
        Err(other) => Err(other.to_string()),
        Ok(_) => Err(format!("not refused with {}", expected.as_str())),
    }
}

/// Returns the status of a payment that must be declined without an authentication.
fn declined(result: Result<Outcome<pg_model::Transaction>, Error>) -> Seen {
    let expected = SandboxStatusCode::AUTHENTICATION_DECLINED;
    match result.map_err(|error| error.to_string())? {
        Outcome::Declined(not) if not.transaction_status_code.as_str() == expected.as_str() => {
            Ok(not.transaction_status_code.to_string())
        }
        other => Err(format!("{} instead of {}", other.record().transaction_status_code, expected.as_str())),
    }
}
