//! Customers on the hosted payment page: they open it, pay, try another card, press the button twice, use two tabs,
//! come late, go back after payment, or give up.

use std::net::IpAddr;

use bytes::Bytes;
use http::{Request, Response, header};
use pg_proto::machine::Moment;

use super::World;
use crate::{
    agenda::{Millis, SimulatedEvent},
    job::hosted,
    job::{CV2, Card},
    network::{Call, Caller},
    run::OwnerEvent,
    scenario::Disturbance,
};

/// Where the pages are.
const HOST: &str = "http://localhost";
/// Maximum number of requests of a tab.
const MOST_REQUESTS: u32 = 12;
/// Maximum number of forms that a customer fills in.
const MOST_FORMS: u32 = 3;
/// Pays, is declined, and pays: what customers try next.
pub(crate) const OTHER_CARDS: [Card; 3] = [
    Card { number: "5200000000001005", year: "49" },
    Card { number: "4000000000002008", year: "49" },
    Card { number: "4000000000001000", year: "49" },
];

/// A tab of a customer's browser.
pub(super) struct Tab {
    task: usize,
    /// The payment page.
    page: String,
    wants: Wants,
    /// The call whose answer it will show. Browsers ignore answers to earlier ones.
    awaits: Option<usize>,
    requests: u32,
    forms: u32,
    presses_twice: bool,
    goes_back: bool,
    gives_up: bool,
}

/// The next request of a tab.
#[derive(Clone)]
enum Wants {
    Page(String),
    /// A form, filled in with this card, is posted.
    Form {
        visit: String,
        card: Card,
    },
    /// The bank's question is answered.
    Challenge(String),
}

impl World<'_> {
    /// Saves the machine, then sends the customer to the page. If asked again, the page is the same.
    pub(super) fn lead(&mut self, task: usize, url: String, now: Moment, until: Moment) {
        let client = self.tasks[task].client;
        let stores_first = self.conduct.stores_before_leading();
        if stores_first {
            self.store(task);
        }
        if self.may_crash(20) {
            return self.crash_client(client);
        }
        if !self.tasks[task].pages.contains(&url) {
            self.tasks[task].pages.push(url.clone());
            self.arrives(task, url);
            if self.may_crash(60) {
                return self.crash_client(client);
            }
        }
        if !stores_first {
            self.store(task);
        }
        self.sleep(task, now, until);
    }

    /// The customer has the address, and uses it.
    fn arrives(&mut self, task: usize, page: String) {
        let name = self.tasks[task].job.name.clone();
        self.note(format_args!("the customer of {name} gets the address of the payment page"));
        if self.chance.per_mille(120) {
            let pause = self.chance.between(60_000, 3_600_000);
            self.bring(task, OwnerEvent::Withdrawn, pause);
        }
        let dithers = self.customers.per_mille(600) && self.scenario.has(Disturbance::Customers);
        let (how, think) = (if dithers { self.customers.below(7) } else { 7 }, self.customers.between(3_000, 300_000));
        if how == 0 {
            return self.note(format_args!("the customer of {name} never opens it"));
        }
        let late = self.customers.pick(&[900_000, 4_000_000, 18_000_000, 700_000_000]);
        for number in 0..if how == 1 { 2 } else { 1 } {
            let tab = self.tabs.len();
            self.tabs.push(Tab {
                task,
                page: page.clone(),
                wants: Wants::Page(page.clone()),
                awaits: None,
                requests: 0,
                forms: 0,
                presses_twice: how == 3,
                goes_back: how == 4 || how == 5,
                gives_up: how == 6,
            });
            let pause = think + number * 40 + if how == 2 { late } else { 0 };
            self.agenda.plan(self.now + pause, SimulatedEvent::Browse { tab });
        }
    }

    /// A tab sends its request, for the first time or again.
    pub(super) fn browse(&mut self, tab: usize) {
        let post = |url: &str, body: String| {
            Request::post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(Bytes::from(body))
        };
        let one = &self.tabs[tab];
        if one.requests >= MOST_REQUESTS {
            return;
        }
        let request = match &one.wants {
            Wants::Page(url) => Request::get(url.as_str()).body(Bytes::new()),
            Wants::Form { visit, card } => post(&one.page, filled_in(visit, *card)),
            Wants::Challenge(url) => {
                let outcome = if self.customers.per_mille(800) { "authenticate" } else { "fail" };
                post(url, format!("outcome={outcome}"))
            }
        };
        let Ok(request) = request else { return };
        let call = self.calls.len();
        let one = &mut self.tabs[tab];
        (one.awaits, one.requests) = (Some(call), one.requests + 1);
        if matches!(one.wants, Wants::Form { .. }) && std::mem::take(&mut one.presses_twice) {
            self.soon(tab, 20, 400);
        }
        self.send(Call::new(Caller::Tab { tab }, request, IpAddr::from([203, 0, 113, 7]), self.now));
    }

    fn soon(&mut self, tab: usize, least: Millis, most: Millis) {
        let pause = self.customers.between(least, most);
        self.agenda.plan(self.now + pause, SimulatedEvent::Browse { tab });
    }

    /// A tab gets no answer: most customers try again.
    pub(super) fn shows_nothing(&mut self, tab: usize, call: usize) {
        if self.tabs[tab].awaits == Some(call) {
            self.tabs[tab].awaits = None;
            if self.customers.per_mille(750) {
                self.soon(tab, 2_000, 30_000);
            }
        }
    }

    /// A tab gets an answer.
    pub(super) fn shows(&mut self, tab: usize, call: usize, response: &Response<Bytes>) {
        if self.tabs[tab].awaits != Some(call) {
            return;
        }
        let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        let page = String::from_utf8_lossy(response.body());
        if let Some(key) = after(to, "trans_key=").or_else(|| after(&page, "trans_key=")) {
            self.has_paid(tab, key);
        } else if to.starts_with("/3ds/") {
            self.tabs[tab].wants = Wants::Challenge(format!("{HOST}{to}"));
            self.soon(tab, 2_000, 120_000);
        } else if to.starts_with("/pay/") {
            self.tabs[tab].wants = Wants::Page(format!("{HOST}{to}"));
            self.soon(tab, 50, 500);
        } else if let Some(visit) = after(&page, "name=\"visit\" value=\"") {
            self.fills_in(tab, visit.to_owned());
        } else if response.status().is_server_error() || response.status().is_success() {
            // A page that cannot be read.
            return self.shows_nothing(tab, call);
        }
        // Any other answer means that nothing can be paid here.
        self.tabs[tab].awaits = None;
    }

    fn fills_in(&mut self, tab: usize, visit: String) {
        let one = &mut self.tabs[tab];
        let (task, first) = (one.task, one.forms == 0);
        one.forms += 1;
        if one.forms > MOST_FORMS || (one.gives_up && self.customers.per_mille(600)) {
            return self.gives_up(task);
        }
        let card = if first { self.tasks[task].job.card } else { self.customers.pick(&OTHER_CARDS) };
        self.tabs[tab].wants = Wants::Form { visit, card };
        self.soon(tab, 3_000, 90_000);
    }

    /// The customer returns to the shop without payment. Some shops then withdraw the order.
    fn gives_up(&mut self, task: usize) {
        let name = self.tasks[task].job.name.clone();
        self.note(format_args!("the customer of {name} gives up"));
        if self.tasks[task].job.pence.is_multiple_of(2) {
            for delay in self.network.carry_callback() {
                self.bring(task, OwnerEvent::Withdrawn, delay);
            }
        }
    }

    /// The page redirects to the shop, with the key. The customer need not follow.
    fn has_paid(&mut self, tab: usize, key: &str) {
        let task = self.tabs[tab].task;
        let name = self.tasks[task].job.name.clone();
        self.note(format_args!("the customer of {name} reads that it is paid"));
        let follows = if self.scenario.has(Disturbance::Customers) { self.customers.below(4) } else { 1 };
        for _ in 0..follows.min(2) {
            for delay in self.network.carry_callback() {
                self.bring(task, OwnerEvent::Paid(key.to_owned()), delay);
            }
        }
        if std::mem::take(&mut self.tabs[tab].goes_back) {
            self.note(format_args!("the customer of {name} goes back"));
            let anew = self.customers.per_mille(500);
            let one = &mut self.tabs[tab];
            if anew {
                one.wants = Wants::Page(one.page.clone());
            }
            self.soon(tab, 500, 600_000);
        }
    }

    /// Plans a report about a checkout for its merchant.
    pub(super) fn bring(&mut self, task: usize, what: OwnerEvent, delay: Millis) {
        self.news.push((task, what));
        self.agenda.plan(self.now + delay, SimulatedEvent::News { news: self.news.len() - 1 });
    }

    pub(super) fn news(&mut self, news: usize) {
        let (task, what) = self.news[news].clone();
        let (name, client) = (self.tasks[task].job.name.clone(), self.tasks[task].client);
        let up = self.clients[client].up;
        self.note(format_args!("{what:?} reaches the shop about {name}{}", if up { "" } else { ", which is down" }));
        self.tell(task, what);
    }

    /// The checkout that a callback is about.
    pub(super) fn checkout_of(&self, request: &Request<Bytes>) -> Option<usize> {
        let url = request.uri().to_string();
        let order = url.strip_prefix(hosted::PAID_PAGE)?.strip_prefix("?order=")?;
        self.tasks.iter().position(|task| task.job.name == order)
    }

    pub(super) fn name_of_tab(&self, tab: usize) -> &str {
        &self.tasks[self.tabs[tab].task].job.name
    }
}

fn filled_in(visit: &str, card: Card) -> String {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.append_pair("visit", visit).append_pair("cardNumber", card.number);
    body.append_pair("cardExpiryMonth", "12").append_pair("cardExpiryYear", card.year);
    body.append_pair("cardCV2", CV2).append_pair("cardholderName", "A. Customer");
    body.finish()
}

/// The key that follows a text.
pub(super) fn after<'a>(text: &'a str, what: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(what)?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}
