//! The saved throttles of an account. A restart continues from them if the credentials are the same.

use std::sync::Arc;

use pg_crypto::{ShaKey, sign};
use pg_model::{ApiRequest as _, GetToken, Initiate, method::ServiceInfo};
use serde::{Deserialize, Serialize};

use super::{Throttle, ThrottleLimits, state::State};
use crate::{
    Account, BaseUrl,
    machine::{ResumeError, SavedState},
};

/// The [name](SavedState::machine) of an [`AccountThrottle`] in a saved state.
pub const ACCOUNT_NAME: &str = "account throttle";
const VERSION: u32 = 1;
/// 16 bits. Different credentials have the same mark once in 65,536 times. An attacker who guesses passwords can rule
/// out wrong ones with the mark, but one guess in 65,536 remains, and only five can be tried a day.
const MARK_DIGITS: usize = 4;

/// The throttles of an account, one for each of its sets of credentials. A process saves them, so that the next process
/// remembers failures and stops.
///
/// A stop belongs to the credentials that were refused. The saved state recognises them by a mark: 16 bits of a salted
/// hash of the address and the credentials, too few to reveal them. After a resume with other credentials, the throttle
/// permits requests again, few at a time until the service has accepted them. The service counts failures by address
/// (spec 1 §5), so failures of the last day still count, but one request is always permitted. Only repeated changes to
/// wrong credentials can still cause a lockout.
///
/// Save it before each request, after each reply, and before each wait.
///
/// ```
/// use pg_proto::{Account, BaseUrl, Credentials, machine::{Moment, throttle::{AccountThrottle, ThrottleLimits, Permit}}};
///
/// let with = |password: &str| -> Result<Account, pg_proto::BaseUrlError> {
///     Ok(Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", password, "sha key")))
/// };
/// let now = Moment::from_millis(1_700_000_000_000);
/// let mut throttle = AccountThrottle::new(&with("wrong")?, ThrottleLimits::default(), 0x5eed);
/// let Permit::Go(ticket) = throttle.gateway().ask(now) else { panic!() };
/// let refused = pg_proto::http::Response::builder().status(401).body(r#"{"errorCode":"102","errorMessage":""}"#.into())?;
/// throttle.gateway().answered(ticket, &refused, now);
/// let saved = throttle.save();
///
/// let mut again = AccountThrottle::resume(&saved, &with("wrong")?, ThrottleLimits::default())?;
/// assert!(matches!(again.gateway().ask(now), Permit::Stopped(_)));
/// let mut mended = AccountThrottle::resume(&saved, &with("right")?, ThrottleLimits::default())?;
/// assert!(matches!(mended.gateway().ask(now), Permit::Go(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountThrottle {
    salt: u64,
    /// The throttle of version 3, then that of version 5. The latter is unused if the account has no version 5
    /// credentials.
    marks: [String; 2],
    throttles: [Throttle; 2],
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(Debug))]
struct Stored {
    salt: u64,
    gateway: Lane,
    enterprise: Lane,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(Debug))]
struct Lane {
    credentials: String,
    throttle: State,
}

impl AccountThrottle {
    /// Creates throttles for new credentials. `salt` is any number, preferably unpredictable.
    #[must_use]
    pub fn new(account: &Account, limits: ThrottleLimits, salt: u64) -> Self {
        let throttles = SERVICES.map(|service| throttle(State::new(limits), service, account));
        Self { salt, marks: marks(account, salt), throttles }
    }

    /// Resumes from a saved state, with these limits. Requests that were in flight count as lost. Requests with changed
    /// credentials may be sent again.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of an account's throttles.
    pub fn resume(saved: &SavedState, account: &Account, limits: ThrottleLimits) -> Result<Self, ResumeError> {
        let Stored { salt, gateway, enterprise } = saved.open(ACCOUNT_NAME, VERSION)?;
        let marks = marks(account, salt);
        let [version_3, version_5] = SERVICES;
        let resumed = |lane: Lane, mark: &String, service| {
            let mut state = State { limits, ..lane.throttle };
            state.lose_all();
            if lane.credentials != *mark {
                state.change_credentials();
            }
            throttle(state, service, account)
        };
        let throttles = [resumed(gateway, &marks[0], version_3), resumed(enterprise, &marks[1], version_5)];
        Ok(Self { salt, marks, throttles })
    }

    /// Returns the state that must survive a crash. It contains no request and no credentials.
    #[must_use]
    pub fn save(&self) -> SavedState {
        let lane = |at: usize| Lane { credentials: self.marks[at].clone(), throttle: self.throttles[at].state.clone() };
        SavedState::of(ACCOUNT_NAME, VERSION, &Stored { salt: self.salt, gateway: lane(0), enterprise: lane(1) })
    }

    /// Returns the throttle of version 3.
    pub const fn gateway(&mut self) -> &mut Throttle {
        &mut self.throttles[0]
    }

    /// Returns the throttle of version 5.
    pub const fn enterprise(&mut self) -> &mut Throttle {
        &mut self.throttles[1]
    }

    /// Sets other limits.
    #[must_use]
    pub fn limits(mut self, limits: ThrottleLimits) -> Self {
        for throttle in &mut self.throttles {
            throttle.state.limits = limits;
        }
        self
    }
}

/// A service of version 3 and one of version 5.
const SERVICES: [&ServiceInfo; 2] = [Initiate::INFO.service, GetToken::INFO.service];

fn throttle(state: State, service: &'static ServiceInfo, account: &Account) -> Throttle {
    Throttle::of(state).for_service(service).with_dialect(Arc::clone(account.dialect()))
}

/// Returns the marks of credentials. The address is part of a mark: the same credentials may be invalid at one address
/// and valid at another.
fn marks(account: &Account, salt: u64) -> [String; 2] {
    let salt = salt.to_string();
    let mark = |base: &BaseUrl, key: &str, password: &str, sha_key: &ShaKey| {
        let parts = [("address", base.as_str()), ("key", key), ("password", password), ("salt", salt.as_str())];
        sign(&parts, sha_key).hex().as_str()[..MARK_DIGITS].to_owned()
    };
    let own = &account.credentials;
    let gateway = mark(&account.base, own.api_key.expose(), own.api_password.expose(), &own.sha_key);
    let enterprise = account.enterprise.as_ref().map_or_else(String::new, |(base, own)| {
        mark(base, own.api_key.expose(), own.api_password.expose(), &ShaKey::new(""))
    });
    [gateway, enterprise]
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{
        Credentials, EnterpriseCredentials,
        machine::{
            Moment,
            throttle::{Permit, StopReason},
        },
    };

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(1_700_000_000_000 + seconds * 1000)
    }

    fn account(base: &str, key: &str, password: &str, sha_key: &str) -> Account {
        let base_of = |text: &str| BaseUrl::parse(text).unwrap();
        Account::new(base_of(base), Credentials::new(key, password, sha_key))
            .with_dialect(crate::spoken::sandbox())
            .enterprise(base_of("https://gateway.example"), EnterpriseCredentials::new("key", "password"))
    }

    fn wrong() -> Account {
        account("https://gateway.example", "key", "password", "sha key")
    }

    fn refused(throttle: &mut Throttle, code: &str, now: Moment) {
        let Permit::Go(ticket) = throttle.ask(now) else { panic!("it may send") };
        let body = Bytes::from(format!(r#"{{"errorCode":"{code}","errorMessage":""}}"#));
        throttle.answered(ticket, &http::Response::builder().status(403).body(body).unwrap(), now);
    }

    fn stopped() -> SavedState {
        let mut throttle = AccountThrottle::new(&wrong(), ThrottleLimits::default(), 7);
        refused(throttle.gateway(), "102", at(0));
        throttle.save()
    }

    fn resumed(saved: &SavedState, account: &Account) -> AccountThrottle {
        AccountThrottle::resume(&SavedState::from_text(saved.text()), account, ThrottleLimits::default()).unwrap()
    }

    #[test]
    fn a_stop_survives_for_the_credentials_that_were_refused() {
        let mut again = resumed(&stopped(), &wrong());
        assert_eq!(again.save(), stopped(), "nothing was lost, and nothing forgotten");
        assert_eq!(again.gateway().ask(at(80_000)), Permit::Stopped(StopReason::Credentials("102".to_owned())));
        // The credentials of version 5 were not refused.
        assert!(matches!(again.enterprise().ask(at(1)), Permit::Go(_)));
        again.gateway().resume_sending(at(2));
        assert!(matches!(resumed(&again.save(), &wrong()).gateway().ask(at(3)), Permit::Go(_)));
    }

    #[test]
    fn other_credentials_may_send_and_the_failures_of_the_old_ones_count() {
        for (what, account) in [
            ("address", account("https://other.example", "key", "password", "sha key")),
            ("API key", account("https://gateway.example", "another", "password", "sha key")),
            ("password", account("https://gateway.example", "key", "another", "sha key")),
            ("SHA key", account("https://gateway.example", "key", "password", "another")),
        ] {
            let mut mended = resumed(&stopped(), &account);
            for _ in 0..4 {
                assert!(matches!(mended.gateway().ask(at(1)), Permit::Go(_)), "{what}");
            }
            assert_eq!(mended.gateway().ask(at(1)), Permit::WaitUntil(at(121)), "{what}");
        }
    }

    #[test]
    fn a_restart_a_second_makes_one_failure_for_each_set_of_credentials() {
        let mut saved = AccountThrottle::new(&wrong(), ThrottleLimits::default(), 7).save();
        for second in 0..600 {
            let password = format!("attempt {}", second / 100);
            let account = account("https://gateway.example", "key", &password, "sha key");
            let mut throttle = resumed(&saved, &account);
            if second % 100 == 0 {
                refused(throttle.gateway(), "105", at(second));
            }
            assert!(matches!(throttle.gateway().ask(at(second)), Permit::Stopped(_)), "{second}");
            saved = throttle.save();
        }
    }

    #[test]
    fn corrected_credentials_need_not_wait_a_day() {
        let reply = |body: &'static str| http::Response::new(Bytes::from_static(body.as_bytes()));
        for lost in [false, true] {
            let mut throttle = AccountThrottle::new(&wrong(), ThrottleLimits::default(), 7);
            let tickets: Vec<_> = std::iter::from_fn(|| match throttle.gateway().ask(at(0)) {
                Permit::Go(ticket) => Some(ticket),
                _ => None,
            })
            .collect();
            assert_eq!(tickets.len(), 5);
            for ticket in tickets {
                if lost {
                    throttle.gateway().lost(ticket, at(1));
                } else {
                    throttle.gateway().answered(ticket, &reply(r#"{"errorCode":"102","errorMessage":""}"#), at(1));
                }
            }
            let right = account("https://gateway.example", "key", "right", "sha key");
            let mut mended = resumed(&throttle.save(), &right);
            let Permit::Go(ticket) = mended.gateway().ask(at(60)) else { panic!("it may be right") };
            assert_eq!(mended.gateway().ask(at(60)), Permit::WaitUntil(at(180)), "the next failure locks out");
            mended.gateway().answered(ticket, &reply(r#"{"result":"OK"}"#), at(61));
            for _ in 0..5 {
                assert!(matches!(mended.gateway().ask(at(61)), Permit::Go(_)), "it is right");
            }
        }
    }

    #[test]
    fn limits_are_those_of_today() {
        let limits = ThrottleLimits { per_minute: 1, ..ThrottleLimits::default() };
        let saved = AccountThrottle::new(&wrong(), ThrottleLimits::default(), 7).limits(limits).save();
        let ask_twice = |throttle: &mut Throttle| {
            let Permit::Go(ticket) = throttle.ask(at(0)) else { panic!("one may go") };
            throttle.answered(ticket, &http::Response::new(Bytes::from(r#"{"result":"OK"}"#)), at(0));
            throttle.ask(at(0))
        };
        let mut as_stored = AccountThrottle::resume(&saved, &wrong(), limits).unwrap();
        assert_eq!(ask_twice(as_stored.gateway()), Permit::WaitUntil(at(61)));
        assert!(matches!(ask_twice(resumed(&saved, &wrong()).gateway()), Permit::Go(_)));
    }

    /// The clock was years ahead when the state was saved. Each of the asking processes lives for a minute.
    #[test]
    fn a_corrected_clock_ends_a_closure_without_a_waiting_process() {
        let mut throttle = AccountThrottle::new(&wrong(), ThrottleLimits::default(), 7);
        refused(throttle.gateway(), "122", at(100_000_000));
        let mut saved = throttle.save();
        let opened = (0..).find(|minute| {
            let mut throttle = resumed(&saved, &wrong());
            let permit = throttle.gateway().ask(at(minute * 60));
            saved = throttle.save();
            matches!(permit, Permit::Go(_))
        });
        assert_eq!(opened, Some(6), "five minutes and a second");
    }

    #[test]
    fn nothing_of_the_credentials_is_stored() {
        let secret = account("https://gateway.example", "canary-key", "canary-password", "canary-sha");
        let throttle = AccountThrottle::new(&secret, ThrottleLimits::default(), 7);
        assert!(!throttle.save().text().contains("canary") && !format!("{throttle:?}").contains("canary"));
        assert!(throttle.marks.iter().all(|mark| mark.len() == 4), "{:?}", throttle.marks);
        let another = AccountThrottle::new(&secret, ThrottleLimits::default(), 8);
        assert_ne!(throttle.marks, another.marks, "they are salted");
    }

    #[test]
    fn a_state_of_another_machine_is_refused() {
        let other = Throttle::new(ThrottleLimits::default()).save();
        assert!(matches!(
            AccountThrottle::resume(&other, &wrong(), ThrottleLimits::default()),
            Err(ResumeError::OtherMachine { .. })
        ));
    }

    #[test]
    fn saved_states_keep_their_form() {
        let examples = ("account-throttle.jsonl", include_str!("../../../tests/saved-states/account-throttle.jsonl"));
        crate::machine::saved::examples::check::<Stored>(examples, ACCOUNT_NAME, VERSION, &[]);
    }
}
