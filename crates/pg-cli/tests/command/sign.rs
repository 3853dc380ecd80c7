use crate::command::pg::{CANARIES, pg, words};

/// Made by Python 3: `hashlib.sha512` over name=value + key, names ordered by `str.lower`.
const SIGNATURE: &str = "b7e1e57bb59434d1023c9f95639ee3550d7275c31309101887d3c827c09f07e4\
                         4e68a176729f564667c926659bde9032c1d31a9cb6913298a8a6d33d59905946";
const KEY: &str = "sha key/+=é";
const PARAMETERS: [&str; 10] = [
    "itemName2=two",
    "shaSignature=x",
    "formId=",
    "ITEMPRICE1=5",
    "itemPrice0=499",
    "currency=GBP",
    "itemName10=ten",
    "apiPassword=pass word",
    "itemName0=Tea & cake + é",
    "apiKey=k1",
];

#[test]
fn sign_prints_the_digits_and_nothing_else() {
    let ended = pg(["sign"].iter().chain(&PARAMETERS)).env("PG_SHA_KEY", KEY).run().ends(0);
    assert_eq!(ended.out, format!("{SIGNATURE}\n"));
    pg(["sign", "--json"].iter().chain(&PARAMETERS))
        .env("PG_SHA_KEY", KEY)
        .run()
        .ends(0)
        .prints(&format!(r#"{{"shaSignature":"{SIGNATURE}"}}"#));
}

#[test]
fn sign_adds_credentials_only_with_the_flag() {
    let others = PARAMETERS.iter().filter(|parameter| !parameter.starts_with("api"));
    let account = |run: crate::command::pg::Pg| {
        run.env("PG_SHA_KEY", KEY).env("PG_API_KEY", "k1").env("PG_API_PASSWORD", "pass word").run().ends(0)
    };
    let ended = account(pg(["sign", "--with-credentials"].iter().chain(others.clone())));
    assert_eq!((ended.out, ended.err), (format!("{SIGNATURE}\n"), String::new()));
    assert_ne!(account(pg(["sign"].iter().chain(others))).out, format!("{SIGNATURE}\n"));
}

#[test]
fn verify_answers_by_its_exit_code() {
    let verify = |signature: &str| {
        let given = format!("shaSignature={signature}");
        let rest = PARAMETERS.iter().filter(|parameter| !parameter.starts_with("sha"));
        pg(["verify", &given].iter().chain(rest)).env("PG_SHA_KEY", KEY).run()
    };
    verify(SIGNATURE).ends(0).prints("the signature is valid");
    verify(&SIGNATURE.to_uppercase()).ends(1).says("pg: the signature is invalid: the signature is in upper case");
    verify(&SIGNATURE[1..]).ends(1).says("127 characters");
    verify(&"0".repeat(128)).ends(1).says("no usual mistake");
    words("verify a=1").env("PG_SHA_KEY", KEY).run().ends(2).says("shaSignature=…");
}

#[test]
fn two_signatures_are_misuse() {
    let valid = format!("shaSignature={SIGNATURE}");
    for both in [[valid.as_str(), "shaSignature=00"], ["shaSignature=00", &valid], [&valid, &valid]] {
        for command in ["verify", "explain"] {
            let given = [&[command], &both[..]].concat();
            let rest = PARAMETERS.iter().filter(|parameter| !parameter.starts_with("sha"));
            let ended = pg(given.iter().chain(rest)).env("PG_SHA_KEY", KEY).run();
            ended.ends(2).says("shaSignature is given more than once");
        }
    }
}

#[test]
fn explain_masks_and_finds_the_mistake() {
    let ended = words(
        "explain --with-credentials cardNumber=4111111111111111 cardCV2=9876 date_of_birth=01011970 currency=GBP",
    )
    .account("http://127.0.0.1:1")
    .run()
    .ends(0)
    .prints("cardNumber=411111******1111‹shaKey›")
    .hides(&["4111111111111111", "9876", "01011970"]);
    for (_, canary) in CANARIES {
        assert!(!ended.out.contains(canary) && !ended.err.contains(canary), "{canary}");
    }
    // hashlib.sha512(b"B=2k" + b"a=1k"): ordered with regard to case.
    let theirs = "shaSignature=fbe5d031c33fc9436897752a4b72f2818787eefdca0ca0a883f332de601b5943\
                  9f774dbea1da4b58ed37ee8921653542f4660fee2268fc4a1e07e4a5313c4bef";
    pg(["explain", "a=1", "B=2", theirs]).env("PG_SHA_KEY", "k").run().ends(0).prints("case");
    pg(["verify", "a=1", "B=2", theirs]).env("PG_SHA_KEY", "k").run().ends(1).says("case");
    pg(["explain", "--json", "a=1", "shaSignature=1"]).env("PG_SHA_KEY", "k").run().ends(0).prints("has 1 character\"");
}

#[test]
fn an_unknown_key_is_misuse() {
    words("sign a=1").run().ends(2).says("PG_SHA_KEY").says("shaKey");
    words("sign").env("PG_SHA_KEY", "k").run().ends(2);
    words("sign novalue").env("PG_SHA_KEY", "k").run().ends(2).says("name=value").hides(&["novalue"]);
}
