//! Redirect data of the card form.

use super::Text;
use crate::{
    drill::{Family, Severity},
    story::{Scene, Story, redirect::Redirect},
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "R01",
        title: "A genuine redirect",
        severity: Severity::High,
        basis: "2 §4.2",
        imitates: "A customer comes back from the card form, and nothing is charged yet.",
        mend: "Show the masked card, and claim nothing about a payment.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Genuine)),
    Text {
        id: "R02",
        title: "Bits flipped in each block",
        severity: Severity::High,
        basis: "2 §4.2",
        imitates: "A visitor alters the URL in the browser.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::BitsFlipped)),
    Text {
        id: "R03",
        title: "Truncated data",
        severity: Severity::Medium,
        basis: "2 §4.2",
        imitates: "A mail program or a browser truncates the URL.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Truncated)),
    Text {
        id: "R04",
        title: "Data of one session, iv of another",
        severity: Severity::Medium,
        basis: "2 §4.2",
        imitates: "Parts of two redirects are mixed.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Swapped)),
    Text {
        id: "R05",
        title: "The same redirect again",
        severity: Severity::Critical,
        basis: "2 §4.2",
        imitates: "The customer reloads the page or goes back.",
        mend: "Opening a page must not charge. Charge when the customer confirms, under the order’s reference.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Replayed)),
    Text {
        id: "R06",
        title: "Forged data that says accepted",
        severity: Severity::Critical,
        basis: "2 §4.2",
        imitates: "An attacker who has the API key encrypts forged data.",
        mend: "The data is encrypted and not authenticated: it may prefill a form, and it is never proof of a payment. Look the payment up.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Forged)),
    Text {
        id: "R07",
        title: "Space instead of a plus sign",
        severity: Severity::Medium,
        basis: "2 §4.2, A33",
        imitates: "URL decoding turns each + of the data into a space.",
        mend: "Replace the spaces in data with + before you decode it.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Blanks)),
    Text {
        id: "R08",
        title: "Encrypted with another key",
        severity: Severity::High,
        basis: "2 §4.2",
        imitates: "The data is encrypted for another merchant.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::WrongKey)),
    Text {
        id: "R09",
        title: "Padding oracle",
        severity: Severity::Critical,
        basis: "2 §4.2, A32, A35",
        imitates: "An attacker sends altered data thousands of times, and decrypts it from the replies.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text. Better still: use pg_crypto’s decrypt_and_read.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::PaddingOracle)),
    Text {
        id: "R10",
        title: "Format oracle",
        severity: Severity::High,
        basis: "2 §4.2",
        imitates: "The same attack, comparing replies to invalid UTF-8 with replies to invalid JSON or XML.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::FormatOracle)),
    Text {
        id: "R11",
        title: "Timing oracle",
        severity: Severity::High,
        basis: "2 §4.2",
        imitates: "The replies are equal, but one kind takes longer.",
        mend: "Do the same work for every failure: decrypt, decode and parse, and check the results only afterwards.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::TimingOracle)),
    Text {
        id: "R12",
        title: "Markup in the cardholder’s name",
        severity: Severity::High,
        basis: "2 §2.2",
        imitates: "The customer’s name is a script.",
        mend: "Escape data from the redirect like any other input.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Markup)),
    Text {
        id: "R13",
        title: "Missing data",
        severity: Severity::Low,
        basis: "2 §4.2",
        imitates: "A visitor opens the page without parameters.",
        mend: "Give every unreadable redirect the same reply after the same work: same status, same headers, same \
        text.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Missing)),
    Text {
        id: "R14",
        title: "Huge data",
        severity: Severity::Medium,
        basis: "2 §4.2",
        imitates: "60,000 characters of data.",
        mend: "Reject data that is longer than a redirect can be.",
    }
    .told(Family::Redirect, Story::Redirect(Redirect::Huge)),
];
