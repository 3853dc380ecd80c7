//! `pg-crypto` against what Python's hashlib and the openssl command say: `tests/vectors/`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::path::{Path, PathBuf};
use std::process::Command;

use pg_crypto::{
    ArrayMember, Diagnosis, KeyDerivation, OrderedSigner, Padding, SessionCipher, ShaKey, TextEncoding, array_value,
    diagnose, explain, form_arrays, sign, verify,
};
use pg_proto::{Account, BaseUrl, Credentials, RawRequest};
use pg_support::installed;
use serde_json::Value;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(vectors().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The cases under `key`; never none, so that a renamed key cannot empty a test.
fn cases(file: &Value, key: &str) -> Vec<Value> {
    let cases = file[key].as_array().unwrap().clone();
    assert!(!cases.is_empty(), "no cases under {key}");
    cases
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("no text {key} in {case}"))
}

fn parameters(case: &Value) -> Vec<(&str, &str)> {
    let pairs = case["parameters"].as_array().unwrap();
    pairs.iter().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect()
}

fn texts(case: &Value, key: &str) -> Vec<String> {
    case[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

// spec: 1 §5, A02, A29: Parameters are signed in ascending order of name, ignoring letter case, without shaSignature.
// spec: 1 §5, A09, A25: Parameters without a value are not signed.
// spec: 1 §5, A25: Each parameter contributes name=value and the key, concatenated.
// spec: 1 §5, A27: The signature is the SHA-512 of that text, as 128 hexadecimal digits in lower case.
#[test]
fn signatures_are_those_of_hashlib() {
    for case in cases(&read("signing.json"), "cases") {
        let name = text(&case, "name");
        let key = ShaKey::new(text(&case, "shaKey"));
        let parameters = parameters(&case);
        let expected = text(&case, "signature");
        assert_eq!(sign(&parameters, &key).to_string(), expected, "{name}");
        assert!(verify(&parameters, &key, expected).is_ok(), "{name}");

        let mut backwards = parameters.clone();
        backwards.reverse();
        let names: std::collections::BTreeSet<_> = parameters.iter().map(|(name, _)| name).collect();
        if names.len() == parameters.len() {
            assert_eq!(sign(&backwards, &key).to_string(), expected, "{name}, backwards");
        }
    }
}

// spec: 1 §5, A25
#[test]
fn the_way_to_a_signature_is_explained_as_it_was_taken() {
    for case in cases(&read("signing.json"), "cases") {
        let name = text(&case, "name");
        let sha_key = text(&case, "shaKey");
        let explanation = explain(&parameters(&case), &ShaKey::new(sha_key));
        let ordered: Vec<_> = explanation.ordered().iter().map(|parameter| parameter.name.clone()).collect();
        assert_eq!(ordered, texts(&case, "ordered"), "{name}");
        let dropped: Vec<_> = explanation.dropped().iter().map(|parameter| parameter.name.clone()).collect();
        assert_eq!(dropped, texts(&case, "dropped"), "{name}");

        let pre_image = explanation.pre_image();
        if pre_image.contains("**") {
            assert!(!explanation.to_string().contains("4111111111111111"), "{name}");
        } else {
            assert_eq!(pre_image.replace("‹shaKey›", sha_key), text(&case, "preImage"), "{name}");
        }
    }
}

#[test]
fn the_signer_of_ordered_parameters_agrees() {
    for case in cases(&read("signing.json"), "cases") {
        let key = ShaKey::new(text(&case, "shaKey"));
        let parameters = parameters(&case);
        let mut signer = OrderedSigner::new(&key);
        let mut left = parameters.clone();
        for name in texts(&case, "ordered") {
            // A name that is there twice keeps its order.
            let at = left.iter().position(|(n, v)| *n == name && !v.is_empty()).unwrap();
            let (name, value) = left.remove(at);
            let mut pieces = signer.begin(name);
            value.split_inclusive(' ').for_each(|piece| pieces.piece(piece));
            pieces.end();
        }
        assert_eq!(signer.finish().to_string(), text(&case, "signature"), "{}", text(&case, "name"));
    }
}

// spec: 1 §5, A26: An array is signed as JSON in which numbers are strings.
#[test]
fn arrays_are_those_of_pythons_json() {
    for case in cases(&read("signing.json"), "arrays") {
        let members = case["members"].as_array().unwrap();
        let members = members.iter().map(|member| match member {
            Value::Number(number) => ArrayMember::Integer(number.as_i64().unwrap()),
            other => ArrayMember::Text(other.as_str().unwrap()),
        });
        assert_eq!(array_value(members), text(&case, "value"));
    }
}

// spec: 1 §5, A26
#[test]
fn arrays_of_forms_are_signed_as_pythons_json() {
    for case in cases(&read("signing.json"), "forms") {
        let sent = case["sent"].as_array().unwrap();
        let sent: Vec<_> = sent.iter().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect();
        let signed = form_arrays(&sent);
        let signed: Vec<_> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
        let key = ShaKey::new(text(&case, "shaKey"));
        assert_eq!(sign(&signed, &key).to_string(), text(&case, "signature"), "{}", text(&case, "name"));
    }
}

// spec: 1 §5, A26
#[test]
fn the_client_encodes_arrays_of_forms_the_same_way() {
    let file = read("signing.json");
    let forms = cases(&file, "forms");
    let case = forms.iter().find(|case| text(case, "name") == "one name for all members").unwrap();
    let credentials = Credentials::new(case["sent"][0][1].as_str().unwrap(), "", text(case, "shaKey"));
    let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials);
    let request = account.request_raw(&RawRequest::gateway("some").array("tag", ["red", "5"])).unwrap();
    let body = std::str::from_utf8(request.body()).unwrap().replace("&apiPassword=", "");
    assert_eq!(body, format!("{}&shaSignature={}", text(case, "body"), text(case, "signature")));
}

#[test]
fn mistakes_are_found() {
    for case in cases(&read("signing.json"), "mistakes") {
        let key = ShaKey::new(text(&case, "shaKey"));
        let given = text(&case, "given");
        assert!(verify(&parameters(&case), &key, given).is_err());
        let Diagnosis::Mistakes(mistakes) = diagnose(&parameters(&case), &key, given) else {
            panic!("nothing found for {case}");
        };
        let names: Vec<_> = mistakes.iter().map(|mistake| format!("{mistake:?}")).collect();
        assert_eq!(names, [text(&case, "mistake")]);
    }
}

fn cipher(case: &Value) -> SessionCipher {
    let derivation = match text(case, "derivation") {
        "verbatim" => KeyDerivation::Verbatim,
        "sha256" => KeyDerivation::Sha256,
        "hex" => KeyDerivation::Hex,
        other => panic!("no derivation {other}"),
    };
    let padding = match text(case, "padding") {
        "pkcs7" => Padding::Pkcs7,
        "zero" => Padding::Zero,
        "none" => Padding::None,
        other => panic!("no padding {other}"),
    };
    SessionCipher::with_derivation(text(case, "apiKey"), derivation).unwrap().padding(padding)
}

// spec: 2 §4.2, A32
#[test]
fn session_data_decrypts_as_openssl_does() {
    let file = read("session.json");
    for case in [cases(&file, "good"), cases(&file, "altered")].concat() {
        let plain = cipher(&case).decrypt(text(&case, "data"), text(&case, "iv"));
        let name = text(&case, "name");
        assert_eq!(plain.unwrap_or_else(|e| panic!("{name}: {e}")).as_str(), text(&case, "plaintext"), "{name}");
    }
}

#[test]
fn session_data_encrypts_as_openssl_does() {
    for case in cases(&read("session.json"), "good") {
        let cipher = cipher(&case).encode_as(TextEncoding::Hex);
        let data = cipher.encrypt(text(&case, "plaintext"), text(&case, "iv")).unwrap();
        assert_eq!(data, text(&case, "ciphertextHex"), "{}", text(&case, "name"));
    }
}

// spec: 2 §4.2, A35
#[test]
fn bad_session_data_is_refused_with_one_error() {
    let mut messages: Vec<String> = Vec::new();
    for case in cases(&read("session.json"), "bad") {
        match cipher(&case).decrypt(text(&case, "data"), text(&case, "iv")) {
            Ok(plain) => panic!("{}: {plain:?}", text(&case, "name")),
            Err(error) => messages.push(format!("{error} {error:?}")),
        }
    }
    messages.dedup();
    assert_eq!(messages.len(), 1);
}

/// Flipping a bit of the `iv` flips it in the plaintext: the data proves nothing.
// spec: 2 §4.2, A35
#[test]
fn altered_session_data_passes_unnoticed() {
    let altered = cases(&read("session.json"), "altered");
    assert_eq!(text(&altered[0], "data"), text(&altered[1], "data"));
    assert_ne!(text(&altered[0], "plaintext"), text(&altered[1], "plaintext"));
}

/// The generator gives, byte for byte, the files that are checked in.
#[test]
fn the_generator_gives_the_same_vectors() {
    if !installed(&["python3", "openssl"], "the generator of the vectors") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new("python3").arg(vectors().join("generate.py")).arg(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in ["signing.json", "session.json"] {
        let made = std::fs::read(folder.path().join(name)).unwrap();
        let kept = std::fs::read(vectors().join(name)).unwrap();
        assert!(made == kept, "{name} is stale: run `python3 tests/vectors/generate.py`");
    }
}
