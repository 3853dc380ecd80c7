//! Names of hosts that programs read as addresses.

/// Whether a host ends in a number (URL standard, "ends in a number checker"): browsers and resolvers read it as an IPv4
/// address in decimal, octal, hexadecimal or short form, so it is not a name.
pub(crate) fn ends_in_a_number(host: &str) -> bool {
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_end_in_a_number() {
        for host in ["127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0177.0.0.01", "0x7f.1", "1.0X7F", "0x", "a.1"] {
            assert!(ends_in_a_number(host), "{host}");
        }
        for host in ["", ".", "shop.example", "shop1", "1.example.", "127.0.0.1.nip.io", "0xg", "x7f", "0y1", "1-2"] {
            assert!(!ends_in_a_number(host), "{host}");
        }
    }
}
