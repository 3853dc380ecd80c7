//! The data of a redirect as a tool that shares no code with the sandbox reads it.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use crate::session_and_tokens::{GOOD, Shop, with};

/// Decrypts with the `openssl` command; `None` if it is not installed.
fn openssl(data: &str, key: &str, iv: &str) -> Option<String> {
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (key, iv) = (hex(key), hex(iv));
    let mut child = Command::new("openssl")
        .args(["enc", "-d", "-aes-256-cbc", "-a", "-A", "-K", &key, "-iv", &iv])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(data.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{data}");
    Some(String::from_utf8(output.stdout).unwrap())
}

// spec: 2 §5: Redirect data is encrypted with the API key.
// spec: 2 §1.1; 2 §4.2, A32; 2 §4.2, A30
#[test]
fn openssl_reads_the_data() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for name in ["", "Zoë Other", "A name that fills more than one block of 16 bytes"] {
        let landing = shop.post(&session, &with(GOOD, &[("cardholderName", name)]));
        if let Some(text) = openssl(&landing.data, shop.api_key(), &landing.iv) {
            assert_eq!(text, landing.text);
        }
    }
}
