//! The first page: counts, latest entries, and data for tests.

use serde_json::Value;

use super::{
    Context, Html, List, Listing, Refusal, Reply, calls, requests, shown,
    site::{self, Place},
    view::{self, Facts, Shown, Table},
};

/// The maximum number of entries of a list that are counted; counting all of a large store would delay other requests.
const COUNTED: u32 = 100;
/// How many requests are shown.
const NEWEST: u32 = 8;
/// The effects of the test cards' scenarios.
const SCENARIOS: [(&str, &str); 12] = [
    ("approved", "Payments are approved"),
    ("declined", "Payments are declined"),
    ("insufficient-funds", "Payments are declined for lack of funds"),
    ("no-response", "The bank does not answer: error 119, nothing is charged"),
    ("no-response-charged", "The bank charges and does not answer: error 119, and a lookup finds the payment"),
    ("challenge", "3-D Secure asks the customer, who may pass or fail"),
    ("challenge-failed", "3-D Secure asks the customer, who always fails"),
    ("challenge-required", "3-D Secure asks the customer; payments after a challenge that was not passed are declined"),
    ("not-enrolled", "The card does not take part in 3-D Secure"),
    ("updater-700-a", "The account updater returns a new number: that of updater-700-b"),
    ("updater-700-b", "The account updater returns a new number: that of updater-700-a"),
    ("updater-702", "The account updater returns an expiry date one month later"),
];

/// Returns the overview.
pub(super) fn show(context: &mut Context<'_>) -> Result<Reply, Refusal> {
    let mut counts = Vec::new();
    // To count the entries of one account, the entries of all accounts would have to be read.
    if context.account.is_none() {
        for list in List::ALL {
            counts.push(count(context, list)?);
        }
        counts.push(counted(Place::Faults, context.faults.all().len(), ""));
    }
    let newest = Listing::newest(NEWEST);
    let newest = match context.account {
        Some(own) => newest.of_account(&own.account.name),
        None => newest,
    };
    let newest = List::Requests.page(context, &newest)?;
    let newest: Vec<Shown<'_>> = newest.entries.iter().map(Shown).collect();
    let newest = requests::LOOK.table(context, &newest).or("No requests yet.");
    let (merchants, cards, addresses) =
        (calls::get(context, "merchants")?, calls::get(context, "cards")?, calls::get(context, "addresses")?);
    let made = own_accounts(&calls::get(context, "accounts")?);
    let counts = if counts.is_empty() {
        Html::new()
    } else {
        Html::new().raw("<ul class=\"counts\">\n").all(counts).raw("</ul>\n")
    };
    let content = counts
        .put(view::section("Addresses of the services", addressees(context)))
        .put(view::section("Latest requests", newest))
        .put(view::section("Accounts", accounts(&merchants)))
        .put(view::section("Accounts created at run time", made))
        .put(view::section("Test cards", self::cards(&cards)))
        .put(view::section("Addresses that the lookup finds", self::addresses(&addresses)));
    Ok(shown(context, Place::Overview, Place::Overview.title(), content))
}

fn count(context: &mut Context<'_>, list: List) -> Result<Html, Refusal> {
    let page = list.page(context, &Listing::newest(COUNTED))?;
    Ok(counted(Place::List(list), page.entries.len(), if page.next.is_some() { "+" } else { "" }))
}

fn counted(place: Place, count: usize, more: &'static str) -> Html {
    let link = Html::new().raw("<li><a").attribute("href", &place.path()).raw("><b>");
    link.text(&count.to_string()).raw(more).raw("</b>").raw(place.title()).raw("</a></li>\n")
}

/// Returns the base URLs for clients.
fn addressees(context: &Context<'_>) -> Html {
    let base = context.own_address();
    let facts = Facts::new()
        .fact("Version 3", view::to_copy(&base))
        .fact("Version 5", view::to_copy(&format!("{base}/enterprise")));
    facts.into_html()
}

/// Returns the credentials of the built-in accounts, which are published test data; others are not shown.
fn accounts(merchants: &Value) -> Html {
    let accounts = Shown(merchants).entries().map(|merchant| {
        let secret = |name: &str| {
            let value = merchant.text(name);
            if value.is_empty() { Html::new() } else { view::to_copy(&value) }
        };
        let joined = |name: &str| {
            merchant.inner(name).entries().map(|one| one.own_text().into_owned()).collect::<Vec<_>>().join(", ")
        };
        let credentials = if merchant.text("apiKey").is_empty() {
            Facts::new().quoted("Credentials", "chosen at its creation; not shown")
        } else {
            Facts::new()
                .fact("apiKey", secret("apiKey"))
                .fact("apiPassword", secret("apiPassword"))
                .fact("shaKey", secret("shaKey"))
                .fact("accountUpdaterKey", secret("accountUpdaterKey"))
                .fact("Version 5 api_key", secret("enterpriseApiKey"))
                .fact("Version 5 api_password", secret("enterpriseApiPassword"))
        };
        let facts = credentials
            .quoted("Currencies", &joined("currencies"))
            .quoted("Raw card numbers", &merchant.text("rawCards"))
            .quoted("Account updater", &merchant.text("accountUpdater"))
            .quoted("Requests per minute", &merchant.text("requestsPerMinute"))
            .quoted("Terminals", &joined("terminals"))
            .quoted("Applets", &joined("applets"));
        let summary = Html::new().raw("<details>\n<summary>").text(&merchant.text("name")).raw("</summary>\n");
        summary.put(facts.into_html()).raw("</details>\n")
    });
    let note = view::note("Published test credentials, valid only for sandboxes. One click selects a whole value.");
    note.all(accounts)
}

/// Returns accounts with their own clock and faults. Their credentials were shown only at their creation.
fn own_accounts(accounts: &Value) -> Html {
    let rows = Shown(accounts).entries().map(|account| {
        let expires = match account.text("expires") {
            never if never.is_empty() => Html::of("when it is removed"),
            _ => account.time("expires"),
        };
        let name = account.text("name");
        let requests = site::of_account(Place::List(List::Requests).path(), &name);
        let requests = Html::new().raw("<a").attribute("href", &requests).raw(">Requests</a>");
        let clock = account.inner("clock");
        [view::code(&name), account.time("created"), expires, clock.time("now"), requests]
    });
    let note = view::note(
        "Each has its own clock and faults. Create and remove them on the page Accounts, or with pg sandbox account.",
    );
    let heads = &["Name", "Made", "Ends", "Its clock", "What it did"];
    note.put(Table::new("Oldest first", heads).rows(rows).or("There are none."))
}

/// Returns the numbers of each scenario, in the order in which they are published.
fn cards(cards: &Value) -> Html {
    let mut scenarios: Vec<(String, Html)> = Vec::new();
    for card in Shown(cards).entries() {
        let scenario = card.text("scenario");
        let number = Html::new().raw("<span class=\"numbers\">").put(view::to_copy(&card.text("number"))).raw(" ");
        let number = number.raw("<span class=\"note\">").text(&card.text("scheme")).raw("</span></span>");
        match scenarios.iter_mut().find(|(known, _)| *known == *scenario) {
            Some((_, numbers)) => *numbers = std::mem::take(numbers).put(number),
            None => scenarios.push((scenario.into_owned(), number)),
        }
    }
    let rows = scenarios.into_iter().map(|(scenario, numbers)| {
        let words = SCENARIOS.iter().find(|(known, _)| *known == scenario).map_or("", |(_, words)| words);
        [view::code(&scenario), Html::new().raw(words), numbers]
    });
    let note = view::note("Any other valid card number is approved, with any future expiry date and any CV2.");
    note.put(
        Table::new("Use the first number of a scenario", &["Scenario", "Result", "Numbers"])
            .rows(rows)
            .or("There are none."),
    )
}

fn addresses(addresses: &Value) -> Html {
    let rows = Shown(addresses).entries().map(|address| {
        let lines = ["address_1", "address_2", "town", "county"].map(|name| address.text(name));
        let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        [Html::of(&address.text("property_name")), Html::of(&address.text("postcode")), Html::of(&lines.join(", "))]
    });
    Table::new("Invented addresses", &["Property", "Postcode", "Address"]).rows(rows).or("There are none.")
}
