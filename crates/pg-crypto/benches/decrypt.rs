//! Compares decrypting a redirect with its bare steps: Base64, AES and UTF-8, without detection, constant-time checks
//! and wiping.

use std::hint::black_box;

use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pg_crypto::SessionCipher;
use pg_measure::{Bounds, compare};

const BOUNDS: Bounds = Bounds::at_most(1.30, 1.10);
const KEY: &[u8; 32] = b"0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";

fn main() {
    let member = r#""collectField":"alphanumeric and symbols","cardNumber":"411111******1111","#;
    let plain = format!("{{{}\"cardCV2\":\"\"}}", member.repeat(8));
    let cipher = SessionCipher::from_key(*KEY);
    let data = cipher.encrypt(&plain, IV).expect("a short text and a good iv");
    let work = || cipher.decrypt(black_box(&data), black_box(IV));
    let floor = || bare(black_box(&data), black_box(IV));
    assert_eq!(work().expect("its own data").as_str(), floor().expect("its own data"));

    println!("{} bytes of plaintext", plain.len());
    compare("decrypt session data, 0.6 KB", BOUNDS, work, floor);
}

fn bare(data: &str, iv: &str) -> Option<String> {
    let mut bytes = STANDARD.decode(data).ok()?;
    let iv = iv.as_bytes().try_into().ok()?;
    let blocks = aes::Block::cast_slice_from_core_mut(bytes.as_chunks_mut().0);
    cbc::Decryptor::<aes::Aes256>::new(KEY.into(), iv).decrypt_blocks(blocks);
    let padding = usize::from(*bytes.last()?);
    bytes.truncate(bytes.len().checked_sub(padding)?);
    String::from_utf8(bytes).ok()
}
