//! Checks before a request is sent, and sources of values.

use crate::command::{
    peer::{Peer, reply},
    pg::{pg, words, write_private},
};

#[test]
fn all_violations_come_at_once_and_show_no_secret() {
    let ended =
        words("call transaction/auth cardNumber=49294205735 cardCV2=98 cardExpiryMonth=13 itemName0=Tea curency=GBP")
            .run()
            .ends(2)
            .hides(&["49294205735", "98 "])
            .says("nothing was sent")
            .says("currency: is required")
            .says("did you mean currency?")
            .says("cardExpiryMonth: must be a month")
            .says("cardExpiryYear: is required")
            .says("itemPrice0: is required")
            .says("cardNumber: must have 13 to 19 characters, found 11 characters (hidden) (spec 2 §4.3)")
            .says("cardCV2: must have 3 to 4 characters");
    assert_eq!(ended.out, "");
}

// spec: 2 §3.2, A09: An unset variable of a script must not refund the whole amount.
#[test]
fn an_empty_amount_is_not_sent() {
    let refund = "call transaction/refund transactionKey=0123456789abcdef0123456789abcdef transactionValue= --dry-run";
    words(refund)
        .run()
        .ends(2)
        .says("transactionValue: must not be empty: leave the parameter out")
        .says("which for transactionValue is the whole amount");
    words(&format!("{refund} --unchecked")).run().ends(0);
}

#[test]
fn programs_can_read_violations() {
    let ended = words("call transaction/refund transactionKey=short transactionValu=5 --json").run().ends(2);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["exit"], 2);
    let violations = report["error"]["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 2);
    assert_eq!(violations[1]["didYouMean"], "transactionValue");
    assert_eq!(violations[0]["source"], "2 §4.4");
}

#[test]
fn a_parameter_is_given_once() {
    words("call token/lookup cardKey=a cardKey=b --dry-run")
        .run()
        .ends(2)
        .says("cardKey: must be given only once, found 2 values");
}

#[test]
fn values_come_from_files_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cv2");
    write_private(&file, "9876\n");
    let cv2 = format!("cardCV2=@{}", file.display());
    let method = ["call", "transaction/authCardKey", "cardKey=@@odd", "currency=GBP", "itemName0=-", "itemPrice0=5"];
    pg(method.iter().chain(&[cv2.as_str(), "--dry-run"]))
        .input("Tea & cake\n")
        .run()
        .ends(0)
        .prints("= Tea & cake\n")
        .prints("= @odd\n")
        .hides(&["9876"]);
    words("call token/lookup cardKey=- merchantCustomerReference=-").run().ends(2).says("standard input");
    words("call token/lookup cardKey=@none").run().ends(2).says("cannot read the file \"none\"");
    write_private(&file, &"k".repeat(2 << 20));
    let long = format!("cardKey=@{}", file.display());
    pg(["call", "token/lookup", &long, "--dry-run"]).run().ends(2).says("longer than 1 MiB");
    #[cfg(unix)]
    words("call token/lookup cardKey=@/dev/zero --dry-run").run().ends(2).says("longer than 1 MiB");
}

#[test]
fn request_unchecked_skips_the_rules() {
    words("call transaction/refund amount=5 --dry-run --unchecked").run().ends(0).prints("amount");
    words("call transaction/refund amount=5 --dry-run").run().ends(2);
}

#[test]
fn the_updater_key_is_that_of_the_account() {
    words("call token/requestAccountUpdater cardKey=a,b --dry-run")
        .account("https://gateway.example")
        .run()
        .ends(0)
        .prints("accountUpdaterKey = ***");
    words("call token/requestAccountUpdater cardKey=a,b --dry-run")
        .run()
        .ends(2)
        .says("accountUpdaterKey: is required");
}

#[test]
fn card_data_on_the_command_line_is_warned_of_unless_the_sandbox_publishes_it() {
    let card = "call transaction/auth currency=GBP itemName0=Tea itemPrice0=5 cardNumber=4929420573595709 \
                cardExpiryMonth=12 cardExpiryYear=49";
    // No server listens there, so no request is sent.
    words(card)
        .account("https://0.0.0.0:1")
        .run()
        .ends(3)
        .says("warning: cardNumber on the command line")
        .hides(&["4929420573595709"]);
    for how in ["", " --dry-run", " --curl --dry-run"] {
        let ended = words(&format!("{card}{how}")).account("http://127.0.0.1:1").run();
        assert!(ended.err.contains("warning: cardNumber on the command line"), "{how}: {}", ended.err);
    }
    // A test card on its way to a sandbox.
    let ended =
        words(&card.replace("4929420573595709", "4000000000001000")).account("http://127.0.0.1:1").run().ends(3);
    assert!(!ended.err.contains("warning"), "{}", ended.err);
}

#[test]
fn a_card_number_anywhere_on_the_command_line_is_warned_of() {
    for command in [
        "methods transaction/auth4929420573595709",
        "call token/lookup cardKey=4929-4205-7359-5709 --dry-run",
        "sign --sha-key x merchantReference=4929420573595709",
        "decrypt --iv 0123456789abcdef 4929420573595709",
    ] {
        words(command).run().says("looks like a card number").hides(&["4929420573595709", "4929-4205-7359-5709"]);
    }
    let ended = words("call token/lookup cardKey=202611220000 --dry-run").run().ends(0);
    assert!(!ended.err.contains("warning"), "{}", ended.err);
}

#[test]
fn replies_play_no_tricks_on_a_terminal() {
    let name = "x\u{202e}y\u{200b}z\u{9b}\u{feff}";
    let body = format!(r#"{{"errorCode":"102","traceCode":"1","errorMessage":"{name}\u001b[2J"}}"#);
    let tricks = ["\u{202e}", "\u{200b}", "\u{9b}", "\u{feff}", "\u{1b}"];
    for how in ["", " --json"] {
        let peer = Peer::answering(&reply("400 Bad Request", "application/json", &body));
        let command = format!("call token/lookup cardKey=a{how}");
        words(&command).account(&peer.base).run().ends(1).says("102").hides(&tricks);
    }
    let body = format!(r#"{{"cardKeyDetails":{{"0":{{"cardKey":"a","cardholderName":"{name}"}}}}}}"#);
    let peer = Peer::answering(&reply("200 OK", "application/json", &body));
    let shown = words("call token/lookup cardKey=a").account(&peer.base).run().ends(0).hides(&tricks);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert!(shown.to_string().contains(name), "the value is the same to programs: {shown}");
}

/// A proxy answers every request with an empty object, or in its own words.
// spec: 2 §4.4, A43
#[test]
fn a_reply_that_a_proxy_may_have_written_proves_nothing() {
    let empty = |list: &str| Peer::answering(&reply("200 OK", "application/json", list));
    for (method, list) in
        [("token/lookup cardKey=a", "cardKeyDetails"), ("transaction/lookup merchantReference=a", "transactions")]
    {
        let told = format!("has no list called {list}");
        for body in ["{}".to_owned(), format!("{{\"{list}\":null}}")] {
            let ended = words(&format!("call {method}")).account(&empty(&body).base).run().ends(4);
            ended.says(&told).says("it is safe to run this again");
        }
        let listed = format!("{{\"{list}\":{{}}}}");
        words(&format!("call {method}")).account(&empty(&listed).base).run().ends(0).prints(list);
    }
    // The documents and the dialect list no such code: the service may have the batch.
    let peer = Peer::answering(&reply(
        "400 Bad Request",
        "application/json",
        r#"{"errorCode":502,"errorMessage":"Bad gateway"}"#,
    ));
    let batch = words("call token/requestAccountUpdater accountUpdaterKey=abc cardKey=a").account(&peer.base);
    batch.run().ends(4).says("502").says("neither in the documents nor in the dialect");
}

#[test]
fn a_card_number_in_the_wrong_place_is_not_repeated() {
    const PAN: &str = "4929420573595709";
    for command in [
        "",
        "--json",
        "call",
        "call token/lookup",
        "call token/lookup --timeout",
        "call token/lookup cardKey=a --profile",
        "call token/lookup cardKey=a --profile-file",
        "methods",
        "listen",
        "sandbox --listen",
        "completions",
        "update-cards",
        "update-cards x --listen",
        "call token/lookup cardKey=a --base-url",
        "intents --store x show",
        "sandbox --config",
        "rehearse --plan",
        "config check --profile-file",
    ] {
        words(&format!("{command} {PAN}")).account("https://gateway.example").run().ends(2).hides(&[PAN]);
    }
    words(&format!("call token/lookup cardKey=@{PAN}")).run().ends(2).hides(&[PAN]);
}

#[test]
fn arguments_that_are_not_understood_are_misuse_for_programs_too() {
    let ended = words("call --json --nonsense").run().ends(2).says("--nonsense");
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["exit"], 2);
}

#[test]
fn verbose_prints_status_headers_and_basis_and_no_secret() {
    let sandbox = crate::command::sandbox::Running::start(&[]);
    let card = crate::command::sandbox::CARD;
    let ended = sandbox
        .run(&format!("call transaction/auth cardNumber=4000000000001000 cardCV2=917 {card} --verbose"))
        .ends(0)
        .says("> POST http://127.0.0.1:")
        .says(">   currency = GBP")
        .says("< HTTP 200 OK")
        .says("< content-type: application/json")
        .says("= spec 2 ")
        .hides(&["4000000000001000", "= 917", "MainSandboxApiPassword", "MainSandboxShaKey"]);
    let reply: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(reply["transactionStatusCode"], "600");
    sandbox.run("call token/lookup cardKey=none -v").says("= assumption A");
    let closed = crate::command::peer::closed_address();
    let ended = sandbox.run(&format!("call token/lookup cardKey=a -v --base-url {closed}")).ends(3);
    ended.says("< no response: ");
}
