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
        .input("groups of one in another way each", MIB, numbered("", |n| format!("{}.", n % 7919), ""), &mask)
        .input("card numbers", MIB, cards, &mask)
        .input("card numbers in groups", MIB, repeated("4111.1111.1111.1111,"), &mask)
}
