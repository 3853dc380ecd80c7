//! The process that drives a browser.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
};

use pg_support::left_out;

const DRIVER: &str = "chromedriver";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Chromium without what surrounds its pages: the tests take half of the processor time in it. It keeps no page that was left,
/// so going back loads the page again.
const SHELL: &str = "chromium-headless-shell";

/// How much of a browser a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Pages and their storage: the headless shell, or if it is not installed, the whole browser.
    Pages,
    /// Also the history: the whole browser.
    Whole,
}

/// A running chromedriver on a free port. Dropping it ends it and its browser.
pub(super) struct Driver {
    process: Child,
    port: u16,
    browser: PathBuf,
    name: &'static str,
    /// Kept open, so that the process can write to it.
    _output: BufReader<ChildStdout>,
}

impl Driver {
    /// `None` if browser or driver are not installed, which is reported.
    pub(super) fn start(extent: Extent) -> Option<Self> {
        let shell = in_path(SHELL).filter(|_| extent == Extent::Pages).map(|path| (path, "chrome-headless-shell"));
        let browser = shell.or_else(|| BROWSERS.into_iter().find_map(in_path).map(|path| (path, "chrome")));
        let (Some(driver), Some((browser, name))) = (in_path(DRIVER), browser) else {
            left_out("chromium or chromedriver is not installed (Debian: chromium, chromium-driver)");
            return None;
        };
        let mut process = Command::new(driver)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut output = BufReader::new(process.stdout.take().expect("it was asked for"));
        let port = port(&mut output);
        Some(Self { process, port, browser, name, _output: output })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn browser(&self) -> &PathBuf {
        &self.browser
    }

    /// The browser's name in WebDriver.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Chromium outlives a driver that is killed, but not one that is shut down.
    fn shut_down(&self) -> io::Result<()> {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        connection.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        io::copy(&mut connection.take(1 << 10), &mut io::sink())?;
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.shut_down().is_err() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// It prints its port: "ChromeDriver was started successfully on port 41235."
fn port(output: &mut impl BufRead) -> u16 {
    let mut lines = output.lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    port.expect("chromedriver tells its port")
}

fn in_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}
