//! Every page on a desk, on a phone and in the dark: judged, and kept as a picture in `target/screenshots/`.

use std::{fs, path::PathBuf};

use pg_tests::webdriver::{Browser, Screen, Scripts};

use crate::site::Site;

/// A desktop screen.
const DESK: Screen = Screen { width: 1280, height: 800, phone: false };
/// A phone of a usual size.
pub(crate) const PHONE: Screen = Screen { width: 390, height: 844, phone: true };
/// The smallest that WCAG 2.2, 1.4.10, asks for; nothing may have to be scrolled sideways on it.
const SMALL: Screen = Screen { width: 320, height: 640, phone: true };

/// How high a control has to be at least, in CSS pixels.
const THUMB: u32 = 40;

/// Looks at the page that the browser shows.
pub(crate) async fn judge(browser: &Browser, name: &str) {
    let mut problems = Vec::new();
    for (look, screen, dark) in [("desk", DESK, false), ("phone", PHONE, false), ("dark", DESK, true)] {
        browser.look(screen, dark).await;
        problems.extend(self::problems(browser).await.iter().map(|problem| format!("{look}: {problem}")));
        let file = folder().join(format!("{name}-{look}.png"));
        fs::write(file, browser.picture().await).unwrap();
    }
    browser.look(SMALL, false).await;
    problems.extend(self::problems(browser).await.iter().map(|problem| format!("small phone: {problem}")));
    problems.extend(browser.complaints().await);
    assert_eq!(problems, [""; 0], "{name}");
}

/// What is wrong with the page that the browser shows.
async fn problems(browser: &Browser) -> Vec<String> {
    let found = browser.run(include_str!("judge.js"), &[THUMB.into()]).await;
    found.as_array().unwrap().iter().map(|problem| problem.as_str().unwrap().to_owned()).collect()
}

fn folder() -> PathBuf {
    // Cargo makes `tmp` in the target folder.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn a_bad_page_is_judged_to_be_one() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let site = Site::new().await.open(|_| {
        "<main><p style=\"width: 9999px; color: #999\">Pale</p><input name=\"nameless\" style=\"height: 20px\"></main>".to_owned()
    });
    browser.visit(&site.page("/")).await;
    browser.look(PHONE, false).await;
    let problems = problems(&browser).await.join("\n");
    for wanted in [
        "wide on a screen of",
        "one heading",
        "input \"nameless\" has no label",
        "high",
        "p \"Pale\" has a contrast of 2.8",
    ] {
        assert!(problems.contains(wanted), "{wanted} in {problems}");
    }
}
