//! Exit codes against peers that answer well, badly, or not at all.

use crate::command::{
    peer::{Peer, closed_address, reply},
    pg::{CANARIES, Ended, words},
};

const PAY: &str = "call transaction/authCardKey cardKey=4F2C-91 currency=GBP itemName0=Tea itemPrice0=499";
const JSON: &str = "application/json";

/// A payment with a reference, to a peer that answers so.
fn pay(peer_says: &str) -> Ended {
    pay_as(&format!("{PAY} uniqueMerchantReference=order-7"), peer_says)
}

fn pay_as(command: &str, peer_says: &str) -> Ended {
    let peer = Peer::answering(peer_says);
    let ended = words(command).account(&peer.base).run();
    assert!(peer.request().starts_with("POST /"));
    let canaries: Vec<&str> = CANARIES.iter().map(|(_, canary)| *canary).collect();
    ended.hides(&canaries)
}

fn transaction(code: &str) -> String {
    let body = format!(
        r#"{{"transactionStatusCode":"{code}","transactionStatus":"As it is","transactionType":"Auth","transactionKey":"0123456789abcdef0123456789abcdef","bankAuthCode":"77","odd":[1]}}"#
    );
    reply("200 OK", JSON, &body)
}

#[test]
fn approved_is_0_and_the_reply_is_json() {
    let ended = pay(&transaction("600")).ends(0);
    let reply: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(reply["transactionStatusCode"], "600");
    assert_eq!(reply["bankAuthCode"], "77");
    assert_eq!(reply["odd"][0], "1");
    assert_eq!(ended.err, "");
    let one_line = pay_as(&format!("{PAY} --json"), &transaction("600")).ends(0).out;
    assert_eq!(one_line.lines().count(), 1);
}

#[test]
fn xml_becomes_json_too() {
    let xml = "<serviceResponse><result>OK</result></serviceResponse>";
    let ended = pay_as("call token/enable cardKey=a --xml", &reply("200 OK", "application/xml", xml)).ends(0);
    assert_eq!(ended.out, "{\n  \"result\": \"OK\"\n}\n");
}

#[test]
fn declined_is_1_and_an_unknown_status_is_4() {
    pay(&transaction("901")).ends(1).says("declined: status 901 As it is").prints("901");
    pay(&transaction("642"))
        .ends(4)
        .says("outcome unknown")
        .says("pg call transaction/lookup uniqueMerchantReference=order-7")
        .prints("642");
    for (status, exit) in [("600", 0), ("901", 1), ("642", 4)] {
        let ended = pay_as(&format!("{PAY} uniqueMerchantReference=order-7 --json"), &transaction(status)).ends(exit);
        let document: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(document["transactionStatusCode"], status);
        assert_eq!(document["exit"].as_i64().unwrap_or(0), i64::from(exit), "{document}");
        assert_eq!(document["error"]["next"].is_string(), exit == 4, "{document}");
    }
}

#[test]
fn refused_is_1_with_code_trace_and_remedy() {
    let body = r#"{"errorCode":102,"traceCode":"123456789","errorMessage":"Invalid API credentials"}"#;
    pay(&reply("401 Unauthorized", JSON, body))
        .ends(1)
        .says("refused: 102 Invalid API credentials (trace code 123456789, HTTP 401): check the API key and password");
    let ended = pay_as(&format!("{PAY} --json"), &reply("401 Unauthorized", JSON, body)).ends(1);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["error"]["refusal"]["code"], "102");
    assert_eq!(report["error"]["refusal"]["traceCode"], "123456789");
}

#[test]
fn an_unreachable_service_has_exit_code_3() {
    let ended = words(PAY).account(&closed_address()).run().ends(3).says("not sent: no connection to 127.0.0.1");
    assert_eq!((ended.out.as_str(), ended.err.lines().count()), ("", 1));
    words("call token/lookup cardKey=a").account(&closed_address()).run().ends(3);
}

#[test]
fn a_connection_that_breaks_leaves_a_payment_unknown() {
    pay("").ends(4).says("outcome unknown").says("pg call transaction/lookup uniqueMerchantReference=order-7");
    // The flags that lead to the same account are repeated.
    let peer = Peer::answering("");
    let command = format!("{PAY} uniqueMerchantReference=order-7 --base-url {}", peer.base);
    words(&command)
        .account("https://other.example")
        .run()
        .ends(4)
        .says(&format!("pg call --base-url {} transaction/lookup uniqueMerchantReference=order-7", peer.base));
    // Without a reference, only the operator knows.
    pay_as(PAY, "").ends(4).says("ask the operator");
    // A refund may be a transaction of its own.
    pay_as("call transaction/refund transactionKey=0123456789abcdef0123456789abcdef", "")
        .ends(4)
        .says("shows the original transaction")
        .says("transaction/lookup transactionKey=0123456789abcdef0123456789abcdef");
    // A lookup can be made again.
    pay_as("call token/lookup cardKey=a", "").ends(3).says("safe to run this again");
}

#[test]
fn an_invalid_reply_makes_the_outcome_unknown() {
    pay(&reply("200 OK", "text/html", "<html>4929420573595709</html>"))
        .ends(4)
        .says("outcome unknown")
        .says("text/html")
        .hides(&["4929420573595709"]);
    pay(&reply("502 Bad Gateway", "text/plain", "no")).ends(4).says("HTTP 502");
    pay("SSH-2.0-OpenSSH_9.9\r\n").ends(4).says("outcome unknown");
}

#[test]
fn an_unreadable_reply_to_a_lookup_leaves_nothing_unknown() {
    for unreadable in
        [reply("200 OK", JSON, "["), reply("502 Bad Gateway", "text/html", "<h1>"), reply("200 OK", JSON, "")]
    {
        for command in ["call token/lookup cardKey=a", "call transaction/lookup uniqueMerchantReference=o"] {
            let ended = pay_as(command, &unreadable).ends(4).says("unreadable reply").says("safe to run this again");
            assert!(!ended.err.contains("executed"), "{}", ended.err);
        }
    }
}

#[test]
fn a_compressed_reply_is_named_and_not_shown() {
    let zipped = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\
                  connection: close\r\n\r\nxyz";
    let named = "application/json, its body is encoded as \"gzip\", which the request did not ask for";
    let lookup = pay_as("call token/lookup cardKey=a", zipped).ends(4).says(named).says("safe to run this again");
    assert!(!lookup.err.contains("xyz"), "{}", lookup.err);
    pay(zipped).ends(4).says("outcome unknown").says(named);
}

#[test]
fn no_response_from_the_bank_makes_the_outcome_unknown() {
    let body = r#"{"errorCode":"119","traceCode":"123456789","errorMessage":"No response from bank"}"#;
    let ended =
        pay_as(&format!("{PAY} uniqueMerchantReference=o --json"), &reply("400 Bad Request", JSON, body)).ends(4);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["error"]["next"], "pg call transaction/lookup uniqueMerchantReference=o");
    assert_eq!(report["error"]["refusal"]["code"], "119");
    let ended = pay_as(PAY, &reply("400 Bad Request", JSON, body)).ends(4);
    let told = "ask the operator: refused: 119 No response from bank (trace code 123456789, HTTP 400)\n";
    assert!(ended.err.ends_with(told), "{}", ended.err);
}

#[test]
fn version_5_has_its_own_ways_to_say_no() {
    let repeat = "call enterprise/repeat prev_trans_key=12 trans_type=Auth trans_value=5.95";
    let result = |status: &str| {
        let xml = format!(
            "<serviceResponse><trans_type>auth</trans_type><status>{status}</status><trans_key>13</trans_key></serviceResponse>"
        );
        reply("200 OK", "text/xml", &xml)
    };
    pay_as(repeat, &result("1")).ends(0).prints("\"trans_key\": \"13\"");
    pay_as(repeat, &result("0")).ends(1).says("declined: status 0");
    pay_as(repeat, "").ends(4).says("pg call enterprise/transaction_lookup trans_key=12");
    let error = "<serviceResponse><errorcode>3</errorcode></serviceResponse>";
    pay_as(repeat, &reply("200 OK", "text/xml", error)).ends(1).says("refused: 3");
}

#[test]
fn a_refusal_without_a_message_gets_the_text_of_the_tables() {
    let address = "call enterprise/address property_name=99 postcode=ZZ11AB";
    let refusal = |code: &str, message: &str| {
        let xml = format!("<serviceResponse><errorcode>{code}</errorcode>{message}</serviceResponse>");
        reply("400 Bad Request", "text/xml", &xml)
    };
    let ended = pay_as(&format!("{address} --json"), &refusal("970", "")).ends(1).says(
        "pg: refused: 970 Address not found [text from pg, since the reply has none; this code comes from the \
        dialect, A128] (HTTP 400): fix the request\n",
    );
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let told = &report["error"]["refusal"];
    assert_eq!((&told["errorMessage"], &told["meaning"]), (&"".into(), &"Address not found".into()));
    assert_eq!(told["assumption"], "A128");
    // Codes of the service are not shared with the other version, and an unknown code has no text.
    let ended = pay_as(&format!("{address} --json"), &refusal("3", "")).ends(1).says(
        "refused: 3 No merchant key sent (or invalid key) [text from pg, since the reply has none] (HTTP 400): fix the \
         credentials",
    );
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["error"]["refusal"].get("assumption"), None);
    pay_as(address, &refusal("888", "")).ends(1).says("refused: 888 no message (HTTP 400)");
    // The service's own text does not change.
    let said = r#"{"errorCode":"950","traceCode":"1","errorMessage":"Used"}"#;
    pay(&reply("400 Bad Request", JSON, said))
        .ends(4)
        .says("refused: 950 Used [this code comes from the dialect, A92] (trace code 1, HTTP 400)")
        .says("pg call transaction/lookup uniqueMerchantReference=order-7");
}

#[test]
fn a_decline_code_of_the_sandbox_is_reported_as_invented() {
    pay(&transaction("901"))
        .ends(1)
        .says("pg: declined: status 901 As it is [this code comes from the dialect, A87]\n");
    let authenticated = "call transaction/initiate3DSecureCardKey cardKey=4F2C-91 currency=GBP itemName0=Tea \
                         itemPrice0=499 returnUrl=https://shop.example/done";
    let failed = pay_as(authenticated, &transaction("608")).ends(1);
    assert!(!failed.err.contains("sandbox"), "{}", failed.err);
}

#[test]
fn a_deadline_leaves_a_payment_unknown() {
    let (peer, _told) = Peer::silent();
    let ended = words(&format!("{PAY} uniqueMerchantReference=order-7 --timeout 1")).account(&peer.base).run().ends(4);
    ended.says("outcome unknown").says("the deadline of 1s passed").says("uniqueMerchantReference=order-7");
    peer.request();
}

#[test]
#[cfg(unix)]
fn an_interruption_leaves_a_payment_unknown() {
    for (command, code, said) in [
        (
            format!("{PAY} uniqueMerchantReference=order-7"),
            4,
            "pg call transaction/lookup uniqueMerchantReference=order-7",
        ),
        (PAY.to_owned(), 4, "there is no reference to look it up by, ask the operator: interrupted"),
        ("call token/lookup cardKey=a".to_owned(), 3, "safe to run this again"),
    ] {
        let (peer, told) = Peer::silent();
        let child = words(&command).account(&peer.base).start();
        told.recv().unwrap();
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        child.ended().ends(code).says("interrupted").says(said);
        peer.request();
    }
}

#[test]
fn a_reply_of_another_service_names_the_address_that_it_came_from() {
    let not_found = reply("404 Not Found", "text/plain", "Not found");
    let lookup = pay_as("call token/lookup cardKey=a", &not_found).ends(4);
    lookup.says("HTTP 404").says("/v3/token/lookup/json: is that the service? (PG_BASE_URL)");
    pay(&not_found).ends(4).says("/v3/transaction/authCardKey/json: is that the service? (PG_BASE_URL)");
    let repeat = "call enterprise/repeat prev_trans_key=12 trans_type=Auth trans_value=5.95";
    pay_as(repeat, &not_found).ends(4).says("/enterprise/repeat: is that the service? (PG_ENTERPRISE_BASE_URL)");
}
