//! Lists of records, a page at a time, and the page of each entry.

use bytes::Bytes;
use http::{Request, StatusCode};
use pg_model::METHODS;

use super::{
    Context, Html, List, Listing, Refusal, Reply, authentications, batches, callbacks, checkouts, control,
    look::Look,
    requests, sessions, shown,
    site::Place,
    sms, tokens, transactions,
    view::{self, Field, Form, Select, Shown},
};

pub(super) const fn look(list: List) -> &'static Look {
    match list {
        List::Requests => &requests::LOOK,
        List::Transactions => &transactions::LOOK,
        List::Tokens => &tokens::LOOK,
        List::Sessions => &sessions::LOOK,
        List::Authentications => &authentications::LOOK,
        List::Checkouts => &checkouts::LOOK,
        List::Batches => &batches::LOOK,
        List::Callbacks => &callbacks::LOOK,
        List::Sms => &sms::LOOK,
    }
}

/// Returns a page of a list, newest first.
pub(super) fn show(context: &mut Context<'_>, list: List, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    let listing = match Listing::of(request) {
        Ok(listing) if listing.method().is_none() || list == List::Requests => listing,
        Ok(_) => return Ok(wrong(context, "Only requests can be filtered by method.")),
        Err(problem) => return Ok(wrong(context, &problem)),
    };
    if let Some(problem) = control::unknown_account(context, &listing)? {
        return Ok(wrong(context, &problem));
    }
    let (look, place) = (look(list), Place::List(list));
    let page = list.page(context, &listing)?;
    let entries: Vec<Shown<'_>> = page.entries.iter().map(Shown).collect();
    let below = match list {
        List::Callbacks => callbacks::behaviour(context, None)?,
        _ => Html::new(),
    };
    let older = page.next.map(|before| format!("{}?{}", place.path(), listing.next(&before)));
    let content = view::lead(look.about)
        .put(filter(context, list, &listing)?)
        .raw("<section>\n")
        .put(look.table(context, &entries).or(if listing.find_text().is_some() {
            "Nothing was found."
        } else {
            look.empty
        }))
        .put(pages(&place.here(context), listing.before().is_some(), older.as_deref()))
        .raw("</section>\n")
        .put(below);
    Ok(shown(context, place, place.title(), content))
}

/// Returns the page of an entry; `None` if it does not exist, or is of another account than the page.
pub(super) fn entry(
    context: &mut Context<'_>,
    list: List,
    key: &str,
    request: &Request<Bytes>,
) -> Result<Option<Reply>, Refusal> {
    let Some(view) = list.entry_of_account(context, key, request)? else { return Ok(None) };
    let look = look(list);
    let content = (look.entry)(context, Shown(&view))?;
    let key = Shown(&view).text(look.key);
    // The number of a request is padded with zeros, so that texts sort in the order of numbers. In a shared journal it
    // is a key.
    let key = if list == List::Requests { key.trim_start_matches('0') } else { &*key };
    let heading = format!("{} {key}", look.one);
    Ok(Some(shown(context, Place::List(list), &heading, content)))
}

fn wrong(context: &Context<'_>, problem: &str) -> Reply {
    super::problem(context, StatusCode::BAD_REQUEST, problem)
}

/// Returns a form to choose the account and the method, if there is one, and to search.
fn filter(context: &mut Context<'_>, list: List, listing: &Listing) -> Result<Html, Refusal> {
    let made = crate::service::accounts::listed(&mut context.records)?;
    let made = made.iter().map(|entry| (&*entry.name, &*entry.name));
    let accounts = context.merchants().all().iter().map(|merchant| (&*merchant.name, &*merchant.name));
    let accounts: Vec<_> = std::iter::once(("", "All accounts")).chain(accounts).chain(made).collect();
    let chosen = listing.merchant().unwrap_or_default();
    let form = Form::get(&Place::List(list).path());
    let form = match context.account {
        // The query of a form's own path is dropped.
        Some(own) => form.hidden("account", &own.account.name),
        None => form.select(Select { name: "merchant", label: "Account", options: &accounts, chosen }),
    };
    let form = if list == List::Requests {
        let names: Vec<String> = METHODS.iter().map(|info| format!("{info:?}")).collect();
        let options: Vec<_> =
            std::iter::once(("", "All methods")).chain(names.iter().map(|name| (&**name, &**name))).collect();
        let chosen = listing.method().unwrap_or_default();
        form.select(Select { name: "method", label: "ApiRequest", options: &options, chosen })
    } else {
        form
    };
    let find = Field { name: "find", label: "Key, reference or last four digits", ..Field::default() };
    let form = form.field(Field { value: listing.find_text().unwrap_or_default(), ..find });
    Ok(form.quiet_button("Show"))
}

fn pages(path: &str, further_on: bool, older: Option<&str>) -> Html {
    if !further_on && older.is_none() {
        return Html::new();
    }
    let button = |path: &str, words: &'static str| {
        Html::new().raw("<a class=\"button other\"").attribute("href", path).raw(">").raw(words).raw("</a>\n")
    };
    let newest = if further_on { button(path, "Newest") } else { Html::new() };
    let older = older.map(|path| button(path, "Older")).unwrap_or_default();
    Html::new().raw("<div class=\"pages\">\n").put(newest).put(older).raw("</div>\n")
}
