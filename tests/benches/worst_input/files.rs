//! Readers of files: states of machines, and the accounts of a sandbox.

use pg_measure::{Bounds, Worst};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{SavedState, charge::Charge, throttle::Throttle},
    model::AuthSessionKey,
};
use pg_sandbox::config_file::{MAX_CONFIG_BYTES, merchants_from_json, merchants_from_toml};

use crate::{
    LIMITS, MIB,
    shapes::{listed, numbered, repeated, short, within},
};

/// Nearly the largest file that is read: a part may go beyond this.
const CONFIG: usize = MAX_CONFIG_BYTES - 512;

pub(crate) fn measure() {
    let credentials = Credentials::new("key", "password", "sha key");
    let account =
        std::sync::Arc::new(Account::new(BaseUrl::parse("https://gateway.example").expect("an address"), credentials));
    let resume = |text: &String| {
        let saved = SavedState::from_text(text.as_str());
        let charge = Charge::<AuthSessionKey>::resume(&saved, account.clone(), None).map(drop);
        (charge.map_err(|error| error.to_string()), Throttle::resume(&saved).map(drop))
    };
    const STATE: &str = r#"{"machine":"charge","version":1,"state":"#;
    Worst::of("resume a saved machine")
        .input("a list of numbers", MIB, listed(r#"{"machine":"charge","version":1,"state":["#, "1,", "]}"), resume)
        .input("a list of lists", MIB, listed(r#"{"machine":"charge","version":1,"state":["#, "[],", "]}"), resume)
        .input("a list of objects", MIB, listed(r#"{"machine":"throttle","version":1,"state":["#, "{},", "]}"), resume)
        .input(
            "many names",
            MIB,
            numbered(STATE, |n| format!(r#"{}"{}":0"#, if n == 0 { "{" } else { "," }, short(n)), "}}"),
            resume,
        )
        .input("escapes", MIB, within(r#"{"machine":""#, r"\n", r#""}"#), resume)
        .input("blanks", MIB, within("{", " ", "}"), resume)
        .input("cut short", MIB, within(r#"{"machine":"charge","version":1,"state":[["#, "\n1,", ""), resume)
        .report(LIMITS);
    config(Worst::of("read a config file, in TOML"), |text| {
        merchants_from_toml(text).map_err(|error| error.to_string())
    })
    .report_calls(Bounds::at_most(40.0, 20.0));
    let account = |n: usize| {
        format!(
            "{}{{\"name\":\"m{n}\",\"apiKey\":\"{n:032}\",\"apiPassword\":\"p\",\"shaKey\":\"s\",\"currencies\":[\"GBP\"]}}",
            if n == 0 { "" } else { "," }
        )
    };
    Worst::of("read a config file, in JSON")
        .input("many accounts", CONFIG, numbered(r#"{"merchant":["#, account, "]}"), |text| {
            merchants_from_json(text).map_err(|e| e.to_string())
        })
        .input("many currencies", CONFIG, listed(r#"{"merchant":[{"currencies":["#, r#""","#, "]}]}"), |text| {
            merchants_from_json(text).map_err(|e| e.to_string())
        })
        .input("blanks", CONFIG, within("{", " ", "}"), |text| merchants_from_json(text).map_err(|e| e.to_string()))
        .report(LIMITS);
}

fn config<T>(worst: Worst, read: impl Fn(&String) -> T) -> Worst {
    let account = |n: usize| {
        format!("[[merchant]]\nname='m{n}'\napiKey='{n:032}'\napiPassword='p'\nshaKey='s'\ncurrencies=['GBP']\n")
    };
    worst
        .input("many accounts", CONFIG, numbered("", account, ""), &read)
        .input("many unknown keys", CONFIG, numbered("", |n| format!("{}=1\n", short(n)), ""), &read)
        .input("many tables", CONFIG, numbered("", |n| format!("[{}]\n", short(n)), ""), &read)
        .input("many dotted keys", CONFIG, numbered("", |n| format!("a.{}=1\n", short(n)), ""), &read)
        .input("a list of numbers", CONFIG, listed("merchant=[", "1,", "]"), &read)
        .input("a list of lists", CONFIG, listed("merchant=[", "[],", "]"), &read)
        .input("a list of tables", CONFIG, listed("merchant=[", "{},", "]"), &read)
        .input("comments", CONFIG, repeated("#\n"), &read)
        .input("blanks", CONFIG, repeated(" "), &read)
        .input("one text of escapes", CONFIG, within("a=\"", r"\n", "\""), &read)
        .input("mistakes", CONFIG, repeated("=\n"), &read)
}
