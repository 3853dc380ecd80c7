//! Where a redirect leads: its `Location`, resolved against the address of the page (RFC 3986, section 5.2).

/// Returns the address of a redirect from this address, without its fragment, if it is on the same host.
pub(super) fn on_same_host(url: &str, location: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, page) = split_host(rest);
    let page = page.split('#').next().unwrap_or_default();
    let location = location.split('#').next().unwrap_or_default();
    let relative = match location.split_once(':').filter(|(scheme, _)| !scheme.contains(['/', '?'])) {
        Some((other, rest)) => {
            other.eq_ignore_ascii_case(scheme).then_some(rest).filter(|rest| rest.starts_with("//"))?
        }
        None => location,
    };
    let target = match relative.strip_prefix("//").map(split_host) {
        Some((other, target)) => other.eq_ignore_ascii_case(host).then(|| target.to_owned())?,
        None => {
            let path = page.split('?').next().unwrap_or_default();
            match relative.as_bytes().first() {
                None => page.to_owned(),
                Some(b'/') => relative.to_owned(),
                Some(b'?') => format!("{path}{relative}"),
                Some(_) => format!("{}/{relative}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
            }
        }
    };
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    Some(format!("{scheme}://{host}{}{query}", without_dots(path)))
}

/// Splits what follows `//` into its host and port, and the rest.
fn split_host(text: &str) -> (&str, &str) {
    text.split_at(text.find(['/', '?']).unwrap_or(text.len()))
}

/// Returns a path without its segments `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
        // A path that ends in one of them names a folder.
        if matches!(segment, "." | "..") && segments.peek().is_none() {
            kept.push("");
        }
    }
    kept.iter().map(|segment| format!("/{segment}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_followed_on_the_same_host_only() {
        let from = |location| on_same_host("http://127.0.0.1:8000/shop/success?order=o-1&trans_key=k", location);
        for (location, to) in [
            ("/thanks?order=o-1", "/thanks?order=o-1"),
            ("thanks", "/shop/thanks"),
            ("?done=1", "/shop/success?done=1"),
            ("#top", "/shop/success?order=o-1&trans_key=k"),
            ("http://127.0.0.1:8000/thanks#top", "/thanks"),
            ("HTTP://127.0.0.1:8000/shop/../thanks", "/thanks"),
            ("//127.0.0.1:8000/thanks", "/thanks"),
            ("http://127.0.0.1:8000", ""),
            ("/login?back=http://127.0.0.1:8000/a/../b", "/login?back=http://127.0.0.1:8000/a/../b"),
        ] {
            assert_eq!(from(location).as_deref(), Some(&*format!("http://127.0.0.1:8000{to}")), "{location}");
        }
        for elsewhere in [
            "https://127.0.0.1:8000/",
            "http://127.0.0.1:8001/",
            "http://shop.example/",
            "//shop.example/",
            "mailto:shop@shop.example",
        ] {
            assert_eq!(from(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(on_same_host("http://shop", "../thanks").as_deref(), Some("http://shop/thanks"));
    }

    /// The examples of RFC 3986, sections 5.2.4 and 5.4, that stay on the host.
    #[test]
    fn relative_references_are_resolved() {
        for (reference, target) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("g#s", "/b/c/g"),
            (";x", "/b/c/;x"),
            ("g;x?y", "/b/c/g;x?y"),
            ("", "/b/c/d;p?q"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/b/c/g."),
            ("..g", "/b/c/..g"),
            ("./../g", "/b/g"),
            ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("/a/b/c/./../../g", "/a/g"),
        ] {
            let resolved = on_same_host("http://a/b/c/d;p?q", reference);
            assert_eq!(resolved, Some(format!("http://a{target}")), "{reference}");
        }
    }
}
