//! The frame of every page: title, navigation and time.

use super::{
    Context, Html,
    page::html,
    site::Place,
    style::STYLE,
    view::{Shown, Tone, badge},
};

/// Returns a whole page with its heading.
pub(super) fn page(context: &Context<'_>, place: Option<Place>, heading: &str, content: Html) -> String {
    head(heading)
        .raw("<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n")
        .put(header(context))
        .put(menu(context, place))
        .raw("<main id=\"content\" tabindex=\"-1\">\n<h1>")
        .text(heading)
        .raw("</h1>\n")
        .put(content)
        .raw("</main>\n</body>\n</html>\n")
        .into_string()
}

fn header(context: &Context<'_>) -> Html {
    let clock = context.clock.view(context.real_now);
    let clock = Shown(&clock);
    Html::new()
        .raw("<header>\n<a class=\"name\"")
        .attribute("href", &Place::Overview.here(context))
        .raw(">pg sandbox</a>\n<a class=\"clock\"")
        .attribute("href", &Place::Clock.here(context))
        .raw("><span class=\"unseen\">The sandbox’s clock: </span>")
        .put(clock.time("now"))
        .raw(" UTC ")
        .put(pace(clock))
        .raw("</a>\n")
        .put(account(context))
        .raw("</header>\n")
}

/// Returns the account that the page is about, if it was created at run time; the link leads to the others.
fn account(context: &Context<'_>) -> Html {
    let Some(own) = context.account else { return Html::new() };
    let link = Html::new().raw("<a class=\"clock\"").attribute("href", &Place::Accounts.here(context)).raw(">Account ");
    link.put(badge(Tone::Waiting, &own.account.name)).raw("</a>\n")
}

/// Returns the state of the clock; empty if it runs in real time.
fn pace(clock: Shown<'_>) -> Html {
    match (clock.flag("frozen"), &*clock.text("speed")) {
        (true, _) => badge(Tone::Waiting, "frozen"),
        (false, "1") => Html::new(),
        (false, speed) => badge(Tone::Waiting, &format!("{speed}×")),
    }
}

fn menu(context: &Context<'_>, place: Option<Place>) -> Html {
    let groups = Place::MENU.iter().map(|(name, places)| {
        let links = places.iter().map(|&other| {
            let here = if place == Some(other) { " aria-current=\"page\"" } else { "" };
            let link = Html::new().raw("<li><a").attribute("href", &other.here(context)).raw(here).raw(">");
            link.raw(other.title()).raw("</a></li>\n")
        });
        Html::new().raw("<h2>").raw(name).raw("</h2>\n<ul>\n").all(links).raw("</ul>\n")
    });
    // On a phone a ticked checkbox opens the menu, which needs no script.
    let switch =
        "<input type=\"checkbox\" id=\"menu\" class=\"unseen\" autocomplete=\"off\"><label for=\"menu\">Menu</label>\n";
    Html::new().raw("<nav aria-label=\"Pages\">\n").raw(switch).all(groups).raw("</nav>\n")
}

/// Returns a page without data of the sandbox.
pub(super) fn bare(heading: &'static str, reason: &'static str) -> String {
    let content = Html::new()
        .raw("<main>\n<section>\n<h1>")
        .raw(heading)
        .raw("</h1>\n<p class=\"reason\">")
        .raw(reason)
        .raw("</p>\n</section>\n</main>\n");
    head(heading).raw("<body>\n").put(content).raw("</body>\n</html>\n").into_string()
}

fn head(heading: &str) -> Html {
    Html::new()
        .raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>")
        .text(heading)
        .raw(" – pg sandbox</title>\n")
        .raw(html::ICON)
        .raw("\n<style>")
        .raw(STYLE)
        .raw("</style>\n</head>\n")
}
