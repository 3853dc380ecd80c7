//! Signatures: checking one, and explaining why one is wrong.

use pg_crypto::{ShaKey, diagnose, explain, form_arrays, sign, verify};
use pg_measure::{Bounds, Worst};
use sha2::{Digest as _, Sha512};

use crate::{
    CALL_LIMITS, MIB,
    requests::MOST,
    shapes::{borrowed, digits, groups, near, one, parameters, repeated, short},
};

/// Looks like a signature, but belongs to no request.
const WRONG: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\
                     0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Milliseconds a MiB. The key is hashed with each parameter: of the shortest, the hash alone takes nearly 20 ms.
const SIGNED: Bounds = Bounds::at_most(40.0, 20.0);

pub(crate) fn measure() {
    const KEY: &str = "MainSandboxShaKey000000000000000";
    let key = &ShaKey::new(KEY);
    of_parameters("SHA-512 of what is signed, for comparison", |sent| {
        let mut hasher = Sha512::new();
        for (name, value) in sent.iter().filter(|(_, value)| !value.is_empty()) {
            [name, "=", value, KEY].iter().for_each(|part| hasher.update(part));
        }
        hasher.finalize()
    })
    .report(Bounds::none());
    of_parameters("check a signature", |sent| {
        let sent = borrowed(sent);
        let arrays = form_arrays(&sent);
        let signed: Vec<(&str, &str)> = arrays.iter().map(|(name, value)| (&**name, &**value)).collect();
        verify(&signed, key, WRONG)
    })
    .report(SIGNED);
    of_parameters("explain a signature", |sent| explain(&borrowed(sent), key).to_string()).report_calls(CALL_LIMITS);
    let work = |sent: &Vec<(String, String)>| diagnose(&borrowed(sent), key, WRONG);
    of_parameters("diagnose a wrong signature", work)
        // The largest inputs that are explained in detail.
        .input(
            "64 parameters, one of them long",
            16 << 10,
            |bytes| {
                let mut sent = parameters(short, |_| "1".to_owned())(63);
                sent.push(("z".to_owned(), "%".repeat(bytes - 4_000)));
                sent
            },
            work,
        )
        .input("64 short parameters", 64, parameters(short, |_| "1".to_owned()), work)
        .report_calls(CALL_LIMITS);
    // One half of it is to sign what is diagnosed.
    let right = |sent: &Vec<(String, String)>| {
        let sent = borrowed(sent);
        diagnose(&sent, key, &sign(&sent, key).to_string())
    };
    of_parameters("diagnose a right signature", right).report_calls(CALL_LIMITS);
}

fn of_parameters<T>(name: &str, work: impl Fn(&Vec<(String, String)>) -> T) -> Worst {
    let one_character = |_| "1".to_owned();
    Worst::of(name)
        .input("one plain value", MIB - 10, one("a", repeated("abcdefg ")), &work)
        .input("one value of percent signs", MIB - 10, one("a", repeated("%")), &work)
        .input("one value of blanks", MIB - 10, one("a", repeated(" ")), &work)
        .input("one value of escapes", MIB - 10, one("a", repeated("%41")), &work)
        .input("one value beyond ASCII", MIB - 10, one("a", repeated("é€")), &work)
        .input("one value of control characters", MIB - 10, one("a", repeated("\u{1}")), &work)
        .input("one value of digits", MIB - 10, one("a", digits), &work)
        .input("one value of groups of digits", MIB - 10, one("a", groups(".")), &work)
        .input(
            "one value that nearly is the key",
            MIB - 10,
            one("a", repeated("MainSandboxShaKey00000000000000")),
            &work,
        )
        .input("one long name", MIB - 10, |bytes| vec![("a".repeat(bytes), "1".to_owned())], &work)
        .input("many short parameters", MOST, parameters(short, one_character), &work)
        .input("many equal names", MOST, parameters(|_| "a".to_owned(), one_character), &work)
        .input(
            "many names alike in their first half",
            MOST,
            parameters(|n| format!("{}{n:04}", "a".repeat(200)), one_character),
            &work,
        )
        .input("many names that count", MOST, parameters(|n| format!("a{n}"), one_character), &work)
        .input("many near names", MOST, parameters(near("uniqueMerchantReference"), one_character), &work)
        .input("one array of many members", MOST, parameters(|_| "a[]".to_owned(), one_character), &work)
        .input("one numbered array", MOST, parameters(|n| format!("a[{n}]"), one_character), &work)
        .input("many arrays", MOST, parameters(|n| format!("{}[]", short(n)), one_character), &work)
        .input("many arrays that are none", MOST, parameters(|n| format!("{}[7]", short(n)), one_character), &work)
        .input("many empty values", MOST, parameters(short, |_| String::new()), &work)
}
