//! A merchant's server: its account, its clock, its throttle, and its disk, which alone survives a crash.

use std::{net::IpAddr, sync::Arc};

use pg_model::{Dialect, Encoding};
use pg_proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::{
        Moment, SavedState,
        throttle::{AccountThrottle, Throttle, ThrottleLimits},
    },
};

use crate::{
    agenda::Millis,
    secrets::Secrets,
    service::{MERCHANTS, PER_MINUTE, settings},
};

pub(crate) struct Client {
    account: Arc<Account>,
    wrong_account: Arc<Account>,
    /// Whether a wrong configuration is in use.
    pub(crate) misconfigured: bool,
    /// Both services share one lane: a limit for all requests holds for each service.
    throttle: AccountThrottle,
    limits: ThrottleLimits,
    /// The saved throttle.
    disk: String,
    pub(crate) up: bool,
    /// How far its clock is ahead.
    pub(crate) ahead: i64,
    /// Whether it has jumped at least once.
    pub(crate) jumped: bool,
    pub(crate) address: IpAddr,
    /// Maximum number of requests per minute, if there is a limit.
    pub(crate) limit: Option<u32>,
}

impl Client {
    pub(crate) fn new(number: usize, secrets: &mut Secrets, dialect: &Arc<Dialect>) -> Self {
        let merchant = settings().merchants.by_name(MERCHANTS[number]).expect("one of the accounts");
        let base = BaseUrl::parse("http://localhost").expect("an address");
        let (key, password, sha) =
            (merchant.api_key.expose(), merchant.api_password.expose(), merchant.sha_key.expose());
        let wrong = format!("wrong-{password}");
        let hosted = merchant.enterprise.as_ref().expect("an account with the hosted pages");
        let (hosted_key, hosted_password) = (hosted.api_key.expose(), hosted.api_password.expose());
        for (what, secret) in [("a version 5 API key", hosted_key), ("a version 5 password", hosted_password)] {
            secrets.add(what, secret);
        }
        let hosted_base = BaseUrl::parse("http://localhost/enterprise").expect("an address");
        for (what, secret) in [("an API key", key), ("a password", password), ("a SHA key", sha)] {
            secrets.add(what, secret);
        }
        let encoding = if number == 0 { Encoding::Json } else { Encoding::Xml };
        let account = |password: &str, hosted_password: &str| {
            let account = Account::new(base.clone(), Credentials::new(key, password, sha))
                .with_dialect(Arc::clone(dialect))
                .encoding(encoding);
            let hosted = EnterpriseCredentials::new(hosted_key, hosted_password);
            Arc::new(account.enterprise(hosted_base.clone(), hosted))
        };
        let limit = merchant.requests_per_minute;
        let limits = ThrottleLimits::default().per_minute(if limit.is_some() { PER_MINUTE } else { 100 });
        let right = account(password, hosted_password);
        let throttle = AccountThrottle::new(&right, limits, u64::try_from(number).unwrap_or_default());
        Self {
            account: right,
            wrong_account: account(&wrong, &wrong),
            misconfigured: false,
            disk: throttle.save().text().to_owned(),
            throttle,
            limits,
            up: true,
            ahead: 0,
            jumped: false,
            address: IpAddr::from([10, 0, 0, u8::try_from(number + 1).unwrap_or(u8::MAX)]),
            limit,
        }
    }

    /// Returns the account with its present configuration.
    pub(crate) fn account(&self) -> Arc<Account> {
        Arc::clone(if self.misconfigured { &self.wrong_account } else { &self.account })
    }

    pub(crate) fn right_account(&self) -> &Account {
        &self.account
    }

    pub(crate) fn wrong_account(&self) -> &Account {
        &self.wrong_account
    }

    /// Returns the time of its clock.
    pub(crate) fn clock(&self, now: Millis) -> Moment {
        Moment::from_millis(now.saturating_add_signed(self.ahead))
    }

    pub(crate) const fn throttle(&mut self) -> &mut Throttle {
        self.throttle.gateway()
    }

    pub(crate) fn store_throttle(&mut self) -> &str {
        self.throttle.save().text().clone_into(&mut self.disk);
        &self.disk
    }

    /// Starts again with its saved state.
    pub(crate) fn start(&mut self) {
        self.up = true;
        let saved = SavedState::from_text(self.disk.as_str());
        self.throttle =
            AccountThrottle::resume(&saved, &self.account(), self.limits).expect("what was stored can be read");
    }
}
