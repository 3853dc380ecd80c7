//! The URL of a database in messages.

/// Returns a URL in a form that may be shown.
#[must_use]
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres".to_owned() };
    // Parameters may hold a password too.
    let place = |rest: &str| rest.split('?').next().unwrap_or_default().to_owned();
    let shown = match rest.split_once('@') {
        None => place(rest),
        Some((user, rest)) if !user.contains('?') && !rest.contains('@') => {
            format!("{}@{}", user.split(':').next().unwrap_or_default(), place(rest))
        }
        // The characters may be in a password or in a parameter.
        Some(_) => "...".to_owned(),
    };
    format!("{scheme}://{shown}")
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for (url, shown) in [
            ("postgres://shop:secret@db.example:5433/shop?sslmode=disable", "postgres://shop@db.example:5433/shop"),
            ("postgres://shop@db.example/shop?password=secret", "postgres://shop@db.example/shop"),
            ("postgresql://db.example/shop?password=secret", "postgresql://db.example/shop"),
            ("postgres://shop:sec?ret@db.example/shop", "postgres://..."),
            ("postgres://shop:sec/ret@db.example/shop", "postgres://shop@db.example/shop"),
            ("postgres://db.example:5433/shop?password=sec@ret", "postgres://..."),
            ("postgres://shop:sec@ret?x@db.example/shop", "postgres://..."),
            ("postgres://shop:secret@db.example/shop?password=sec@ret", "postgres://..."),
            ("host=db.example password=secret", "postgres"),
        ] {
            assert_eq!(without_password(url), shown, "{url}");
        }
    }
}
