//! Checks every page on a desktop, on a phone, in dark mode and in forced colours, also with axe, and saves screenshots in
//! `target/screenshots/`.
//!
//! axe (<https://github.com/dequelabs/axe-core>) checks the accessibility rules that a program can check. `cargo xtask
//! test` installs it into `target/axe/` as `tests/axe/` says.

use std::{fs, path::PathBuf, sync::LazyLock};

use pg_support::left_out;
use pg_tests::webdriver::{Browser, Screen, Scripts};

use crate::site::Site;

/// A desktop screen.
pub(crate) const DESK: Screen = Screen { width: 1280, height: 800, phone: false };
/// A phone of a usual size.
pub(crate) const PHONE: Screen = Screen { width: 360, height: 740, phone: true };
/// The smallest width of WCAG 2.2, 1.4.10, which must not need horizontal scrolling.
const SMALL: Screen = Screen { width: 320, height: 640, phone: true };

/// The minimum height of a control, in CSS pixels.
const THUMB: u32 = 40;

/// Looks at the page that the browser shows.
pub(crate) async fn judge(browser: &Browser, name: &str) {
    let mut problems = Vec::new();
    for (look, screen, dark) in [("desk", DESK, false), ("phone", PHONE, false), ("dark", DESK, true)] {
        browser.look(screen, dark).await;
        problems.extend(self::problems(browser).await.iter().map(|problem| format!("{look}: {problem}")));
        problems.extend(axe(browser).await.iter().map(|problem| format!("{look}: {problem}")));
        keep(browser, &format!("{name}-{look}")).await;
    }
    browser.look_in_forced_colours(DESK).await;
    problems.extend(axe(browser).await.iter().map(|problem| format!("forced colours: {problem}")));
    keep(browser, &format!("{name}-forced")).await;
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

async fn keep(browser: &Browser, name: &str) {
    fs::write(folder().join(format!("{name}.png")), browser.picture().await).unwrap();
}

/// The violations that axe finds: the rule and the elements that break it. Requires a browser with scripts.
async fn axe(browser: &Browser) -> Vec<String> {
    let Some(script) = AXE.as_deref() else { return Vec::new() };
    // Once for each page, which stays the same page however it is looked at.
    if browser.run("return typeof axe === 'undefined'", &[]).await == true {
        browser.run(script, &[]).await;
    }
    let found = browser
        .run_on(
            "const done = arguments[0];
             const told = rule => `axe: ${rule.id}, ${rule.nodes.map(node => node.html).join()}`;
             axe.run().then(found => done(found.violations.map(told)), error => done([String(error)]))",
        )
        .await;
    found.as_array().unwrap().iter().map(|problem| problem.as_str().unwrap().to_owned()).collect()
}

/// The axe script. It is required on CI.
static AXE: LazyLock<Option<String>> = LazyLock::new(|| {
    let script = fs::read_to_string(target().join("axe/node_modules/axe-core/axe.min.js"));
    if script.is_err() {
        left_out("axe is not installed (`cargo xtask test` does, with Node): its rules");
    }
    script.ok()
});

/// Cargo makes `tmp` in the target folder.
fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("")
}

fn folder() -> PathBuf {
    let folder = target().join("screenshots");
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn a_page_with_a_mistake_fails_the_check() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let site = Site::new().await.open(|_| {
        "<main><p style=\"width: 9999px; color: #999\">Pale</p><input name=\"nameless\" style=\"height: 20px\"></main>".to_owned()
    });
    // A page that says its width to phones, as all of ours do.
    let viewport = "document.head.append(Object.assign(document.createElement('meta'), {name: 'viewport', content: 'width=device-width'}))";
    browser.visit(&site.page("/")).await;
    browser.run(viewport, &[]).await;
    browser.look(PHONE, false).await;
    let found = axe(&browser).await.join("\n");
    assert!(AXE.is_none() || (found.contains("axe: label, ") && found.contains("axe: color-contrast, ")), "{found}");
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
