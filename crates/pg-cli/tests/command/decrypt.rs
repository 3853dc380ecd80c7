use crate::command::pg::{Pg, pg};

/// `printf … | openssl enc -aes-256-cbc -K … -iv … -a`, key and iv being the bytes of these texts.
const DATA: &str = "TG6TJvkSCmgaz0tmydsfzKscDgJNDEbFY070aIvCUH+4UTyD+axhmjB7yNHpFoE7";
const PLAINTEXT: &str = r#"{"cardNumber":"411111******1111"}"#;
const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "abcdefghijklmnop";
/// The same with `-nopad`, the key's SHA-256 as key, and the output as hexadecimal digits.
const HEX_DATA: &str = "37d30c8e77543e8e036c1f860066fae3";

fn decrypt(arguments: &[&str]) -> Pg {
    pg(["decrypt"].iter().chain(arguments)).env("PG_API_KEY", KEY)
}

#[test]
fn data_and_iv_become_plaintext() {
    let ended = decrypt(&["--iv", IV, DATA]).run().ends(0);
    assert_eq!((ended.out, ended.err), (format!("{PLAINTEXT}\n"), String::new()));
    decrypt(&["--iv", IV, "-"]).input(&format!("{DATA}\n")).run().ends(0).prints(PLAINTEXT);
    decrypt(&["--json", "--iv", IV, DATA]).run().ends(0).prints(r#""authenticated":false"#);
}

/// The vectors that openssl has made: every one is decrypted however it was copied.
#[test]
fn every_vector_of_openssl_is_decrypted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/session.json");
    let vectors: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut blanks = 0;
    for case in vectors["good"].as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        let (data, iv, plaintext) = (text("data"), text("iv"), format!("{}\n", text("plaintext")));
        if data.len() > 4096 {
            continue;
        }
        let choices = ["--key-derivation", text("derivation"), "--padding", text("padding")];
        let decrypted = |more: &[&str], input: &str| {
            let run = pg(["decrypt"].iter().chain(&choices).chain(more)).env("PG_API_KEY", text("apiKey"));
            let ended = run.input(input).run().ends(0);
            assert_eq!(ended.out, plaintext, "{} {more:?}", text("name"));
        };
        decrypted(&["--iv", iv, data], "");
        decrypted(&["--iv", iv, "-"], &format!("{data}\r\n"));
        if text("name").starts_with("blank for plus") {
            let address = format!("https://shop.example/review?formId=f&iv={iv}&data={data}");
            decrypted(&[&address], "");
            decrypted(&["-"], &format!("{}\n", address.replace(' ', "+")));
            decrypted(&["--iv", iv, "-"], &format!("{}\n", data.replace(' ', "+")));
            blanks += 1;
        }
    }
    assert_eq!(blanks, 25);
}

#[test]
fn blanks_that_came_along_are_taken_off() {
    decrypt(&["--iv", IV, &format!("  {DATA} ")]).run().ends(0).prints(PLAINTEXT);
    let address = format!(" https://shop.example/review?data={}&iv={IV} ", DATA.replace('+', "%2B"));
    decrypt(&[&address]).run().ends(0).prints(PLAINTEXT);
}

#[test]
fn an_address_is_taken_apart() {
    let encoded = DATA.replace('+', "%2B").replace('/', "%2F");
    let address = format!("https://shop.example/review?a=b&formId=card&data={encoded}&iv={IV}#top");
    decrypt(&[&address]).run().ends(0).prints(PLAINTEXT);
    decrypt(&["https://shop.example/review"]).run().ends(2).says("no parameter data").says("--iv");
}

#[test]
fn every_choice_of_the_cipher_can_be_changed() {
    let choices = ["--key-derivation", "sha256", "--padding", "none", "--encoding", "hex", "--iv-format", "text"];
    decrypt(&[&choices[..], &["--iv", IV, HEX_DATA]].concat()).run().ends(0).prints("zero padded text");
    decrypt(&["--encoding", "hex", "--iv", IV, DATA]).run().ends(1);
}

// spec: 2 §4.2, A30, A31, A32, A33
#[test]
fn the_dialect_makes_the_choices_that_no_flag_makes() {
    let folder = tempfile::tempdir().unwrap();
    let dialect = folder.path().join("service.toml");
    std::fs::write(&dialect, "[session_data]\nkey = \"sha256\"\niv = \"text\"\npadding = \"zero\"\ntext = \"hex\"\n")
        .unwrap();
    let dialect = dialect.to_str().unwrap();
    let ended = decrypt(&["--iv", IV, HEX_DATA, "--dialect", dialect]).run().ends(0);
    assert_eq!(ended.out, "zero padded text\n");
    decrypt(&["--iv", IV, HEX_DATA]).env("PG_DIALECT", dialect).run().ends(0).prints("zero padded text");
    // A flag overrides it.
    let flags = ["--key-derivation", "verbatim", "--padding", "pkcs7", "--encoding", "base64"];
    decrypt(&[&flags[..], &["--iv", IV, DATA, "--dialect", dialect]].concat()).run().ends(0).prints(PLAINTEXT);
    decrypt(&["--iv", IV, DATA, "--dialect", "nonsense"]).run().ends(2).says("the dialect nonsense is not built in");
}

#[test]
fn a_wrong_key_gives_one_line() {
    let ended = decrypt(&["--iv", IV, DATA]).env("PG_API_KEY", &KEY.replace('0', "1")).run().ends(1);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert_eq!(ended.out, "");
    decrypt(&["--iv", IV, DATA]).env("PG_API_KEY", "short").run().ends(2).says("32 are needed");
    pg(["decrypt", "--iv", IV, DATA]).run().ends(2).says("PG_API_KEY");
}

#[test]
fn why_is_said_only_when_asked() {
    let wrong = KEY.replace('0', "1");
    let refused = |more: &[&str]| {
        let ended = decrypt(&[more, &["--iv", IV, DATA]].concat()).env("PG_API_KEY", &wrong).run().ends(1);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        ended.err
    };
    assert!(!refused(&[]).contains("padding"));
    assert!(refused(&["--explain"]).contains("wrong padding"));
    decrypt(&["--explain", "--iv", IV, "AAAA"]).run().ends(1).says("3 bytes, not a multiple of 16");
    decrypt(&["--explain", "https://shop.example/?data=AAAA&iv=short"])
        .run()
        .ends(1)
        .says("the iv is not 16 characters");
    decrypt(&["--explain", "--iv", IV, DATA]).run().ends(0).prints(PLAINTEXT);
}

#[test]
fn overlong_addresses_are_not_read_to_the_end() {
    crate::command::pg::words("decrypt -")
        .account("https://gateway.example")
        .input(&"a".repeat(2 << 20))
        .run()
        .ends(2)
        .says("1 MiB");
}
