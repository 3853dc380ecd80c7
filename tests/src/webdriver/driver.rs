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

/// A running chromedriver on a free port. Dropping it ends it and its browser.
pub(super) struct Driver {
    process: Child,
    port: u16,
    browser: PathBuf,
    /// Kept open, so that the process can write to it.
    _output: BufReader<ChildStdout>,
}

impl Driver {
    /// `None` if browser or driver are not installed, which is reported.
    pub(super) fn start() -> Option<Self> {
        let browser = BROWSERS.into_iter().find_map(in_path);
        let (Some(driver), Some(browser)) = (in_path(DRIVER), browser) else {
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
        Some(Self { process, port, browser, _output: output })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn browser(&self) -> &PathBuf {
        &self.browser
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
