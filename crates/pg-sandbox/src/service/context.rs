//! Everything that a method may read and change.

use std::net::IpAddr;

use http::{HeaderValue, uri::Authority};
use pg_model::Encoding;

use super::{
    page_url::{PageUrl, has_tls},
    throttle::Throttle,
};
use crate::{
    basis::Basis,
    clock::Clock,
    faults::Faults,
    journal::Journal,
    key::Keys,
    merchants::{Merchant, Merchants},
    metrics::Metrics,
    records::{Account, Meta, Silence, UniqueReference, due_by},
    schedule::Schedule,
    settings::Settings,
    store::{Query, StoreError, StoredRecord, Transaction},
    timestamp::Timestamp,
    vault::{Cv2Memory, Vault},
    warning::Warnings,
};

/// The default address of `pg sandbox`, also for a test without a socket.
const USUAL_ADDRESS: &str = "http://127.0.0.1:8480";

/// An account created at run time.
#[derive(Clone, Copy)]
pub(crate) struct OwnAccount<'a> {
    /// The account.
    pub(crate) account: &'a Account,
    /// The account as the services see it.
    pub(crate) merchant: &'a Merchant,
}

/// One request's view of the sandbox.
pub(crate) struct Context<'a> {
    /// The time of the sandbox's clock.
    pub(crate) now: Timestamp,
    /// The real time, for the clock itself.
    pub(crate) real_now: Timestamp,
    /// The address from which the request came.
    pub(crate) peer: IpAddr,
    /// The host to which the request was sent, as the caller named it.
    pub(crate) host: Option<&'a HeaderValue>,
    /// The records; rolled back if the request is refused, except for changes that were kept.
    pub(crate) records: Transaction<'a>,
    /// The settings of the sandbox.
    pub(crate) settings: &'a Settings,
    /// Whether other processes may use the store too. Then no state may be kept only in this process.
    pub(crate) is_shared: bool,
    /// The account to which the request belongs, if it was created at run time. Then clock, faults and schedule are
    /// those of the account.
    pub(crate) account: Option<OwnAccount<'a>>,
    /// The missing account that a call of the control interface names.
    pub(crate) missing_account: Option<String>,
    /// Seals and opens card numbers.
    pub(crate) vault: &'a Vault,
    /// Makes keys and random digits.
    pub(crate) keys: &'a mut Keys,
    /// The CV2 of sessions.
    pub(crate) cv2: &'a mut Cv2Memory,
    /// The sandbox's clock.
    pub(crate) clock: &'a mut Clock,
    /// Requests of the last minute by merchant.
    pub(crate) throttle: &'a mut Throttle,
    /// The faults of the next calls.
    pub(crate) faults: &'a mut Faults,
    /// The newest requests and their replies.
    pub(crate) journal: &'a mut Journal,
    /// The counters of this process.
    pub(crate) metrics: &'a Metrics,
    /// The scheduled work of the sandbox.
    pub(crate) schedule: &'a mut Schedule,
    /// The unique reference that the request uses up, and the transaction that the reference finds.
    pub(crate) unique_reference: Option<UniqueReference>,
    /// The `currency` of a request whose method has no such parameter and takes it from the original.
    pub(crate) stray_currency: Option<String>,
    /// Whether a fault prevents the bank from answering this request.
    pub(crate) silence: Option<Silence>,
    /// Set if the bank's decision is recorded but its answer is lost, to the basis before the bank was asked: error 119
    /// must not show what the bank did (A93).
    pub(crate) unheard: Option<Basis>,
    /// The encoding that the request asked for.
    pub(crate) encoding: Encoding,
    /// Basis of the reply; a method adds the assumptions that it uses.
    pub(crate) basis: Basis,
    /// Warnings for the caller, also for a refused request.
    pub(crate) warnings: Warnings,
}

impl<'a> Context<'a> {
    /// Returns the accounts of the configuration, for as long as the request lasts.
    pub(crate) fn merchants(&self) -> &'a Merchants {
        &self.settings.merchants
    }

    /// Returns the account with this name: a configured account, or the account to which the request belongs.
    pub(crate) fn merchant(&self, name: &str) -> Option<&'a Merchant> {
        let own = self.account.map(|own| own.merchant).filter(|merchant| merchant.name == name);
        own.or_else(|| self.merchants().by_name(name))
    }

    /// Returns the account with this version 3 API key.
    pub(crate) fn merchant_of_key(&self, key: &str) -> Option<&'a Merchant> {
        let own = self.account.map(|own| own.merchant).filter(|merchant| merchant.api_key.matches(key));
        own.or_else(|| self.merchants().by_api_key(key))
    }

    /// Returns the account with this version 5 API key.
    pub(crate) fn merchant_of_enterprise_key(&self, key: &str) -> Option<&'a Merchant> {
        let own = self.account.map(|own| own.merchant);
        let own = own.filter(|merchant| merchant.enterprise.as_ref().is_some_and(|held| held.api_key.matches(key)));
        own.or_else(|| self.merchants().by_enterprise_key(key))
    }

    /// Whether the request is about records of this account: the account created at run time to which it belongs, otherwise
    /// each configured account.
    pub(crate) fn concerns(&self, name: &str) -> bool {
        match self.account {
            Some(own) => own.account.name == name,
            None => self.merchants().by_name(name).is_some(),
        }
    }

    /// Returns the name of the account created at run time; empty for all other accounts together.
    pub(crate) fn own_name(&self) -> &'a str {
        self.account.map_or("", |own| &own.account.name)
    }

    /// Returns the name of a value of the sandbox, or of the account created at run time.
    pub(crate) fn meta_key(&self, name: &str) -> String {
        self.account.map_or_else(|| name.to_owned(), |own| Meta::key_of(name, own.account))
    }

    /// Writes a value of the sandbox, or of the account created at run time.
    pub(crate) fn put_meta(&mut self, meta: Meta) -> Result<(), StoreError> {
        self.records.put(&match self.account {
            Some(own) => meta.of(own.account),
            None => meta,
        })
    }

    /// Returns the records due by this time on the request's clock, by their index column.
    pub(crate) fn find_due<T: StoredRecord>(
        &mut self,
        limit: u32,
        column: &'static str,
        by: Timestamp,
    ) -> Result<Vec<T>, StoreError> {
        let query = Query::oldest(limit);
        match self.account {
            Some(own) => {
                let name = &*own.account.name;
                self.records.find(&query.of(name).at_most(column, &due_by(name, by)))
            }
            None => self.records.find(&query.at_most(column, &by.sortable())),
        }
    }

    /// Returns the base URL of the pages for customers, without a trailing slash: the configured one, otherwise the
    /// host of this request.
    pub(crate) fn own_address(&self) -> String {
        if let Some(told) = &self.settings.public_url {
            return told.trim_end_matches('/').to_owned();
        }
        let scheme = self.settings.scheme();
        let host = self.host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
        match host {
            Some(host) => match host.port_u16() {
                Some(port) => format!("{scheme}://{}:{port}", host.host()),
                None => format!("{scheme}://{}", host.host()),
            },
            None => USUAL_ADDRESS.to_owned(),
        }
    }

    /// Whether browsers open the pages for customers over TLS.
    pub(crate) fn pages_have_tls(&self) -> bool {
        self.settings.public_url.as_deref().map_or(self.settings.certificate.is_some(), has_tls)
    }

    /// Adds a warning to the header `pg-warning` and to the journal: one sentence without a full stop, which names
    /// parameters and never a value, such as `transactionValue was ignored: the reservation has no part left`.
    pub(crate) fn warn(&mut self, text: &str) {
        self.warnings.add(text);
    }

    /// Returns the address of a merchant's page if it is valid. Names the assumption that accepts or refuses it, and warns
    /// of a public page without TLS (spec 2 §1.1, A134).
    pub(crate) fn page(&mut self, name: &str, address: &str) -> Option<PageUrl> {
        let (page, assumption) = PageUrl::judged(address);
        self.basis.assume_all(assumption);
        if page.as_ref().is_some_and(PageUrl::lacks_tls) {
            self.warn(&format!("{name} has no TLS: pages of a merchant must be served over https"));
        }
        page
    }

    /// Returns a trace code (A20).
    pub(crate) fn trace_code(&mut self) -> String {
        self.keys.digits(9)
    }
}
