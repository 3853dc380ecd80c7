//! Maskers, which search texts of unknown content before the texts are shown.

use pg_measure::Worst;
use pg_model::mask;

use crate::{
    LIMITS, MIB,
    shapes::{cards, digits, groups, numbered, repeated},
};

pub(crate) fn measure() {
    masker("mask a text", |text| mask::text(text)).report(LIMITS);
    masker("mask a card number", |text| mask::card_number(text)).report(LIMITS);
}

fn masker<T>(name: &str, mask: impl Fn(&String) -> T) -> Worst {
    Worst::of(name)
        .input("plain text", MIB, repeated("abcdefg "), &mask)
        .input("text beyond ASCII", MIB, repeated("é€"), &mask)
        .input("one run of digits", MIB, digits, &mask)
        .input("digits with blanks between", MIB, repeated("4 1 "), &mask)
        .input("digits with full stops between", MIB, repeated("4.1."), &mask)
        .input("groups of four with full stops between", MIB, groups("."), &mask)
        .input("groups of four far apart", MIB, groups("        "), &mask)
        .input("groups of four with dashes between", MIB, groups("–"), &mask)
        .input(
            "groups of four with full stops between, one in another script",
            MIB,
            |bytes| format!("٤.{}", groups(".")(bytes)),
            &mask,
        )
        .input("raised digits between others", MIB, repeated("4²"), &mask)
        .input("raised digits and full stops between others", MIB, repeated("4².1."), &mask)
        .input("a group in another script again and again", MIB, before_every_fourth("٤."), &mask)
        .input("a digit in another script before every fourth group", MIB, before_every_fourth("٤"), &mask)
        .input("an escape before every fourth group", MIB, before_every_fourth("%34."), &mask)
        .input("escaped blanks between groups of four", MIB, groups("%20"), &mask)
        .input("escapes of two bytes between groups of four", MIB, groups("%C2%A0"), &mask)
        .input("escaped digits of another script", MIB, repeated("%D9%A4"), &mask)
        .input("escapes of letters", MIB, repeated("%41"), &mask)
        .input("references of HTML", MIB, repeated("&#0052;"), &mask)
        .input("small groups with changing separators", MIB, repeated("4.1.1.1-1-1-1"), &mask)
        .input("invisible characters in every fourth group", MIB, before_every_fourth("٤\u{200b}"), &mask)
        .input("groups of one in another way each", MIB, numbered("", |n| format!("{}.", n % 7919), ""), &mask)
        .input("card numbers", MIB, cards, &mask)
        .input("card numbers in groups", MIB, repeated("4111.1111.1111.1111,"), &mask)
}

/// Groups of four with something before every fourth one.
fn before_every_fourth(before: &'static str) -> impl Fn(usize) -> String {
    move |bytes| {
        let groups = groups(".")(bytes);
        let mut text = String::new();
        for four in groups.as_bytes().chunks(20) {
            text.push_str(before);
            text.push_str(&String::from_utf8_lossy(four));
            if text.len() >= bytes {
                break;
            }
        }
        text
    }
}
