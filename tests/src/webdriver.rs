//! A real browser: Chromium, driven as its users drive it (W3C WebDriver).
//!
//! Finding an element waits until it appears, so that no test has to sleep. Without an installed browser, tests print that and
//! are skipped; on CI they fail.

use std::{sync::Arc, thread, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Request, header};
use pg_hyper::{HyperTransport, Transport};
use serde_json::{Value, json};
use tempfile::TempDir;

mod driver;
mod pool;

use driver::{Driver, Extent};
use pool::{Kind, Pool, Running};

/// How long an element may take to appear, in milliseconds. Only a test that fails waits that long.
const PATIENCE: u32 = 20_000;

/// How often an element is found again if its page changes before it is used.
const FINDS: u32 = 5;

/// Marks the current document. [`NEW`] finds the next one.
const MARK: &str = "document.documentElement.setAttribute('data-left', '')";
const NEW: &str = "html:not([data-left])";

/// WebDriver's name for an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The tabulator, for [`Browser::press`].
pub const TAB: char = '\u{e004}';
/// The enter key, for [`Browser::press`].
pub const ENTER: char = '\u{e007}';

/// Whether pages may run scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scripts {
    /// The default of browsers.
    On,
    /// The setting of some users.
    Off,
}

/// The size of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its width in CSS pixels.
    pub width: u32,
    /// Its height in CSS pixels.
    pub height: u32,
    /// Whether it is a phone.
    pub phone: bool,
}

/// A browser with its own tab, storage and cookies, which can reach only this machine. When it is dropped, the next
/// test may use it, without data of this one; after a failed test it ends.
///
/// Every method panics if the browser does not execute a command, which fails the test.
pub struct Browser {
    /// The address of the WebDriver session.
    session: String,
    http: HyperTransport,
    kind: Kind,
    running: Option<Running>,
    pool: Arc<Pool>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let running = self.running.take().filter(|_| !thread::panicking());
        if let Some(running) = running {
            self.pool.keep(self.kind, running);
        }
    }
}

impl Browser {
    /// A browser without state, or `None` if no browser is installed.
    ///
    /// # Panics
    /// When the browser does not start, or when none is installed on CI.
    pub async fn open(scripts: Scripts) -> Option<Self> {
        Self::of((scripts, Extent::Pages)).await
    }

    /// As [`Browser::open`], with the history of the whole browser: [`Browser::back`] may show a page as it was left.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn open_whole(scripts: Scripts) -> Option<Self> {
        Self::of((scripts, Extent::Whole)).await
    }

    async fn of(kind: Kind) -> Option<Self> {
        let pool = Pool::shared();
        // Each command has its own connection, so none can turn out to be closed.
        let http = HyperTransport::new().pool(0, Duration::ZERO);
        if let Some(running) = pool.take(kind) {
            let session = running.session.clone();
            let browser = Self { session, http, kind, running: Some(running), pool };
            browser.forget().await;
            return Some(browser);
        }
        let driver = Driver::start(kind.1)?;
        let profile = tempfile::tempdir().expect("a folder");
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": driver.name(),
            "timeouts": {"implicit": PATIENCE},
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": driver.browser(), "args": arguments(&profile, kind.0)},
        }}});
        let sessions = format!("http://127.0.0.1:{}/session", driver.port());
        let mut browser = Self { session: sessions.clone(), http, kind, running: None, pool };
        let opened = browser.post("", &capabilities).await;
        let id = opened["sessionId"].as_str().expect("the identifier of the session");
        browser.session = format!("{sessions}/{id}");
        browser.running = Some(Running { session: browser.session.clone(), _driver: driver, _profile: profile });
        Some(browser)
    }

    /// Removes the state of the previous test: its tabs and emulation, cookies and stores, console messages, and
    /// pressed buttons.
    async fn forget(&self) {
        self.ask(Method::DELETE, "/actions", Bytes::new()).await.unwrap_or_else(|refused| refused.fail());
        let used = self.get("/window/handles").await;
        let new = self.new_tab().await;
        for handle in used.as_array().expect("a list") {
            self.go_to_tab(&text(handle)).await;
            self.ask(Method::DELETE, "/window", Bytes::new()).await.unwrap_or_else(|refused| refused.fail());
        }
        self.go_to_tab(&new).await;
        self.devtools("Network.clearBrowserCookies", &json!({})).await;
        self.devtools("Network.clearBrowserCache", &json!({})).await;
        self.devtools("Storage.clearDataForOrigin", &json!({"origin": "*", "storageTypes": "all"})).await;
        self.complaints().await;
    }

    /// Opens an address, as if it had been typed.
    pub async fn visit(&self, address: &str) {
        self.post("/url", &json!({"url": address})).await;
    }

    /// Goes back one page. Requires [`Browser::open_whole`].
    pub async fn back(&self) {
        assert_eq!(self.kind.1, Extent::Whole, "only the whole browser goes back as its users do");
        self.post("/back", &json!({})).await;
    }

    /// Reloads the page.
    pub async fn reload(&self) {
        self.post("/refresh", &json!({})).await;
    }

    /// The address of the page.
    pub async fn address(&self) -> String {
        text(&self.get("/url").await)
    }

    /// The title of the page.
    pub async fn title(&self) -> String {
        text(&self.get("/title").await)
    }

    /// Waits for a page whose heading contains a text.
    pub async fn see(&self, heading: &str) {
        self.find(XPATH, &format!("//h1[contains(., \"{heading}\")]")).await;
    }

    /// The displayed text of an element.
    pub async fn read(&self, css: &str) -> String {
        text(&self.on(CSS, css, &[Step::get("text")]).await)
    }

    /// The displayed texts of all matching elements, possibly none: this does not wait.
    pub async fn read_all(&self, css: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map(element => element.innerText)";
        let found = self.run(script, &[json!(css)]).await;
        found.as_array().expect("a list").iter().map(text).collect()
    }

    /// The value of an input.
    pub async fn value(&self, css: &str) -> String {
        text(&self.on(CSS, css, &[Step::get("property/value")]).await)
    }

    /// Replaces the text of an input.
    pub async fn fill(&self, css: &str, value: &str) {
        self.on(CSS, css, &[Step::post("clear", json!({})), Step::post("value", json!({"text": value}))]).await;
    }

    /// Fills the inputs with these names.
    pub async fn fill_all(&self, inputs: &[(&str, &str)]) {
        for (name, value) in inputs {
            self.fill(&format!("input[name={name}]"), value).await;
        }
    }

    /// Clicks an element that opens no other page; see [`Browser::submit`] for those that do.
    pub async fn click(&self, css: &str) {
        self.on(CSS, css, &[Step::click()]).await;
    }

    /// Clicks an element that opens another page, and waits for that page. Later searches never find an element of the old page,
    /// however slowly it is unloaded.
    pub async fn submit(&self, css: &str) {
        self.leave(self.click(css)).await;
    }

    /// Clicks the link or button with this text, and waits for the page that it opens.
    pub async fn click_on(&self, words: &str) {
        let either = format!("//*[self::a or self::button][contains(normalize-space(.), \"{words}\")]");
        self.leave(async {
            self.on(XPATH, &either, &[Step::click()]).await;
        })
        .await;
    }

    /// Presses a key that opens another page, and waits for that page.
    pub async fn submit_by_key(&self, key: char) {
        self.leave(self.press(&key.to_string())).await;
    }

    /// Runs an action that opens another page, and waits for that page.
    async fn leave(&self, action: impl Future<Output = ()>) {
        // The element to click may be on a page that is still loading.
        self.run(MARK, &[]).await;
        action.await;
        self.find(CSS, NEW).await;
    }

    /// Clicks an element twice, as fast as the browser can.
    pub async fn double_click(&self, css: &str) {
        let element = self.find(CSS, css).await;
        let (down, up) = (json!({"type": "pointerDown", "button": 0}), json!({"type": "pointerUp", "button": 0}));
        let there = json!({"type": "pointerMove", "x": 0, "y": 0, "duration": 0, "origin": {(ELEMENT): element}});
        self.act("pointer", &[there, down.clone(), up.clone(), down, up]).await;
    }

    /// Presses the mouse button on an element and keeps it pressed.
    pub async fn hold(&self, css: &str) {
        let element = self.find(CSS, css).await;
        let there = json!({"type": "pointerMove", "x": 0, "y": 0, "duration": 0, "origin": {(ELEMENT): element}});
        self.act("pointer", &[there, json!({"type": "pointerDown", "button": 0})]).await;
    }

    /// Presses keys in turn, at the current focus.
    pub async fn press(&self, keys: &str) {
        let key = |kind: &str, key: char| json!({"type": kind, "value": key});
        let actions: Vec<Value> = keys.chars().flat_map(|char| [key("keyDown", char), key("keyUp", char)]).collect();
        self.act("key", &actions).await;
    }

    /// The name of the focused element, or its text.
    pub async fn focused(&self) -> String {
        text(&self.run("const it = document.activeElement; return it.name || it.textContent.trim()", &[]).await)
    }

    /// Opens a new tab, switches to it, and returns its handle.
    pub async fn new_tab(&self) -> String {
        let handle = text(&self.post("/window/new", &json!({"type": "tab"})).await["handle"]);
        self.go_to_tab(&handle).await;
        handle
    }

    /// The handle of the tab in front.
    pub async fn tab(&self) -> String {
        text(&self.get("/window").await)
    }

    /// Switches to another tab.
    pub async fn go_to_tab(&self, handle: &str) {
        self.post("/window", &json!({"handle": handle})).await;
    }

    /// Switches to the first frame of the page.
    pub async fn enter_frame(&self) {
        let frame = self.find(CSS, "iframe").await;
        self.post("/frame", &json!({"id": {(ELEMENT): frame}})).await;
    }

    /// Leaves all frames.
    pub async fn leave_frames(&self) {
        self.post("/frame", &json!({"id": null})).await;
    }

    /// Runs a script for the test, even if pages may run none, and returns its result.
    pub async fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": arguments})).await
    }

    /// Runs a script that ends when it calls its last argument, and returns the value passed to that.
    pub async fn run_on(&self, script: &str) -> Value {
        self.post("/execute/async", &json!({"script": script, "args": []})).await
    }

    /// The browser's console errors since the last call, such as violations of the content security policy, except
    /// statuses other than 200.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"})).await;
        let entries = log.as_array().expect("a list").iter().map(|entry| text(&entry["message"]));
        entries.filter(|message| !message.contains("the server responded with a status of")).collect()
    }

    /// Emulates another screen, with the light or the dark colour scheme.
    pub async fn look(&self, screen: Screen, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        self.look_as(screen, "screen", &[("prefers-color-scheme", scheme)]).await;
    }

    /// Emulates colours that a user has chosen (CSS `forced-colors`).
    pub async fn look_in_forced_colours(&self, screen: Screen) {
        self.look_as(screen, "screen", &[("forced-colors", "active")]).await;
    }

    /// Emulates printing.
    pub async fn look_on_paper(&self, screen: Screen) {
        self.look_as(screen, "print", &[]).await;
    }

    async fn look_as(&self, screen: Screen, medium: &str, features: &[(&str, &str)]) {
        let Screen { width, height, phone } = screen;
        let metrics = json!({"width": width, "height": height, "mobile": phone, "deviceScaleFactor": 1});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics).await;
        let features: Vec<Value> = features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        self.devtools("Emulation.setEmulatedMedia", &json!({"media": medium, "features": features})).await;
    }

    /// A picture of the whole page, as a PNG file.
    pub async fn picture(&self) -> Vec<u8> {
        // File size does not matter: compressing the picture well takes longer than drawing it.
        let shot = json!({"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true});
        let picture = self.devtools("Page.captureScreenshot", &shot).await;
        STANDARD.decode(text(&picture["data"])).expect("Base64")
    }

    async fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters})).await
    }

    async fn act(&self, device: &str, actions: &[Value]) {
        let device = json!({"type": device, "id": device, "actions": actions});
        self.post("/actions", &json!({"actions": [device]})).await;
    }

    async fn find(&self, strategy: &str, selector: &str) -> String {
        text(&self.post("/element", &json!({"using": strategy, "value": selector})).await[ELEMENT])
    }

    /// Finds an element, executes these commands on it, and returns the result of the last one. If the page changes in
    /// between, the driver reports a stale element, which is then found again on the new page.
    async fn on(&self, strategy: &str, selector: &str, steps: &[Step]) -> Value {
        for _ in 0..FINDS {
            let element = self.find(strategy, selector).await;
            match self.with(&element, steps).await {
                Err(refused) if refused.is_stale() => {}
                done => return done.unwrap_or_else(|refused| refused.fail()),
            }
        }
        unreachable!("{selector} was found {FINDS} times, and each time its page was left at once");
    }

    async fn with(&self, element: &str, steps: &[Step]) -> Result<Value, Refused> {
        let mut given = Value::Null;
        for Step { method, path, body } in steps {
            given = self.ask(method.clone(), &format!("/element/{element}/{path}"), body.clone()).await?;
        }
        Ok(given)
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, Bytes::new()).await.unwrap_or_else(|refused| refused.fail())
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let body = Bytes::from(body.to_string());
        self.ask(Method::POST, path, body).await.unwrap_or_else(|refused| refused.fail())
    }

    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Value, Refused> {
        let asked = format!("{method} {path} {}", String::from_utf8_lossy(&body));
        let request = Request::builder().method(method).uri(format!("{}{path}", self.session));
        let request = request.header(header::CONTENT_TYPE, "application/json").body(body).expect("a request");
        let reply = self.http.send(request).await.expect("a reply of the driver");
        let mut value: Value = serde_json::from_slice(reply.body()).expect("JSON of the driver");
        let value = value["value"].take();
        if reply.status().is_success() {
            return Ok(value);
        }
        Err(Refused { asked, error: text(&value["error"]), message: text(&value["message"]) })
    }
}

const CSS: &str = "css selector";
const XPATH: &str = "xpath";

/// A command on an element.
struct Step {
    method: Method,
    path: &'static str,
    body: Bytes,
}

impl Step {
    fn get(path: &'static str) -> Self {
        Self { method: Method::GET, path, body: Bytes::new() }
    }

    fn post(path: &'static str, body: Value) -> Self {
        Self { method: Method::POST, path, body: Bytes::from(body.to_string()) }
    }

    fn click() -> Self {
        Self::post("click", json!({}))
    }
}

/// A command that the driver did not carry out.
struct Refused {
    asked: String,
    error: String,
    message: String,
}

impl Refused {
    /// Whether the element's page was left. Between two documents Chromium reports it in its own words.
    fn is_stale(&self) -> bool {
        self.error == "stale element reference" || self.message.contains("does not belong to the document")
    }

    fn fail(self) -> ! {
        unreachable!("{}\n{}: {}", self.asked, self.error, self.message)
    }
}

/// The browser connects to this machine only.
fn arguments(profile: &TempDir, scripts: Scripts) -> Vec<String> {
    let fixed = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-proxy-server",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--hide-scrollbars",
        "--lang=en-GB",
        "--window-size=1280,900",
    ];
    let profile = format!("--user-data-dir={}", profile.path().display());
    let scripts = format!("--blink-settings=scriptEnabled={}", scripts == Scripts::On);
    fixed.into_iter().map(str::to_owned).chain([profile, scripts]).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| unreachable!("the driver gives a text, not {value}")).to_owned()
}
