//! Reads a plan and reports every mistake in it.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    ops::Range,
    path::Path,
    time::Duration,
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{Job, Means, Mistake, Plan, PlanError, Way};
use crate::nearest::suggestion;

const TOP: [&str; 7] = ["timeout_seconds", "prepare", "jobs", "hygiene", "service", "shop", "redirect"];
const TIMEOUT: &str = "timeout_seconds must be a whole number from 1 to 600";

/// An example of a list of strings.
const fn example(name: &str) -> &'static str {
    match name.as_bytes() {
        b"logs" => r#"["var/log/*.log"]"#,
        b"with" => r#"["sessionKey", "card"]"#,
        _ => r#"["python3", "pay.py"]"#,
    }
}

/// The default address of the service for a running shop: the sandbox's default address.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8480);

pub(super) fn plan(text: &str, folder: &Path) -> Result<Plan, PlanError> {
    let mut reading = Reading { text, mistakes: Vec::new() };
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            reading.mistake(error.span().unwrap_or_default(), error.message().to_owned());
            return Err(PlanError::Mistakes(reading.mistakes));
        }
    };
    let mut plan = Plan {
        folder: folder.to_owned(),
        timeout: Duration::from_secs(20),
        prepare: None,
        jobs: BTreeMap::new(),
        with: None,
        encoding: None,
        logs: Vec::new(),
        dump: None,
        listen: LISTEN,
        shop: None,
    };
    for (key, value) in &table {
        match key.get_ref().as_ref() {
            "timeout_seconds" => plan.timeout = reading.timeout(value),
            "prepare" => plan.prepare = Some(reading.command("prepare", value)),
            "jobs" => reading.jobs(value, &mut plan),
            "hygiene" => reading.hygiene(value, &mut plan),
            "service" => reading.service(value, &mut plan),
            "shop" => reading.shop(value, &mut plan),
            "redirect" => reading.redirect(value, &mut plan),
            other => reading.unknown(key.span(), other, &TOP),
        }
    }
    if plan.jobs.is_empty() && reading.mistakes.is_empty() {
        reading.mistake(0..0, "the plan has no job; add [jobs.charge] with a command or a url".to_owned());
    }
    if reading.mistakes.is_empty() {
        return Ok(plan);
    }
    reading.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    Err(PlanError::Mistakes(reading.mistakes))
}

struct Reading<'t> {
    text: &'t str,
    mistakes: Vec<Mistake>,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reading<'_> {
    fn mistake(&mut self, span: Range<usize>, problem: String) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&letter| letter != '\n').count() + 1;
        self.mistakes.push(Mistake { line, column, problem });
    }

    fn unknown(&mut self, span: Range<usize>, name: &str, known: &[&str]) {
        self.mistake(span, format!("{name} is unknown{}", suggestion(name, known)));
    }

    fn table<'v, 'a>(&mut self, name: &str, value: &'v Value<'a>) -> Option<&'v DeTable<'a>> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(table);
        }
        self.mistake(value.span(), format!("{name} must be a table: [{name}]"));
        None
    }

    fn timeout(&mut self, value: &Value<'_>) -> Duration {
        let seconds = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let seconds = seconds.filter(|seconds| (1..=600).contains(seconds));
        if seconds.is_none() {
            self.mistake(value.span(), TIMEOUT.to_owned());
        }
        Duration::from_secs(seconds.unwrap_or(20))
    }

    fn words(&mut self, name: &str, value: &Value<'_>) -> Vec<String> {
        let problem = || format!("{name} must be a list of strings, such as {}", example(name));
        let list = match value.get_ref() {
            DeValue::Array(list) => list,
            _ => {
                self.mistake(value.span(), problem());
                return Vec::new();
            }
        };
        let mut words = Vec::new();
        for word in list {
            match word.get_ref() {
                DeValue::String(word) => words.push(word.to_string()),
                _ => self.mistake(word.span(), problem()),
            }
        }
        words
    }

    fn command(&mut self, name: &str, value: &Value<'_>) -> Vec<String> {
        let before = self.mistakes.len();
        let words = self.words(name, value);
        if words.is_empty() && self.mistakes.len() == before {
            self.mistake(value.span(), format!("{name} is empty; set the program and its arguments"));
        }
        words
    }

    fn word(&mut self, name: &str, value: &Value<'_>) -> Option<String> {
        if let DeValue::String(word) = value.get_ref() {
            return Some(word.to_string());
        }
        self.mistake(value.span(), format!("{name} must be a string"));
        None
    }

    fn url(&mut self, name: &str, value: &Value<'_>) -> Option<String> {
        let word = self.word(name, value)?;
        let uri = word.parse::<http::Uri>().unwrap_or_default();
        let host = uri.host().filter(|host| uri.scheme_str() == Some("http") && !host.is_empty());
        let Some((host, authority)) = host.zip(uri.authority()) else {
            self.mistake(value.span(), format!("{name} must begin with http:// and name a host"));
            return None;
        };
        // A port that is no number of a port is not taken for none.
        if !authority.as_str().ends_with(host) && uri.port_u16().is_none_or(|port| port == 0) {
            self.mistake(value.span(), format!("the port of {name} must be a whole number from 1 to 65535"));
            return None;
        }
        Some(word)
    }

    fn jobs(&mut self, value: &Value<'_>, plan: &mut Plan) {
        let Some(jobs) = self.table("jobs", value) else { return };
        for (key, value) in jobs {
            let name = key.get_ref().as_ref();
            let Some(job) = Job::named(name) else {
                let meant = suggestion(name, &Job::ALL.map(Job::name));
                self.mistake(key.span(), format!("job {name} is unknown{meant}"));
                continue;
            };
            let before = self.mistakes.len();
            match self.job(job, value, plan) {
                Some(means) => drop(plan.jobs.insert(job, means)),
                None if self.mistakes.len() == before => {
                    self.mistake(key.span(), format!("job {name} needs a command or a url"));
                }
                None => {}
            }
        }
    }

    fn job(&mut self, job: Job, value: &Value<'_>, plan: &mut Plan) -> Option<Means> {
        let table = self.table(&format!("jobs.{}", job.name()), value)?;
        let mut means = None;
        for (key, value) in table {
            let twice = means.is_some() && matches!(key.get_ref().as_ref(), "command" | "url");
            if twice {
                self.mistake(key.span(), format!("job {} has both a command and a url; keep one of them", job.name()));
            }
            match key.get_ref().as_ref() {
                "command" => means = Some(Means::Command(self.command("command", value))),
                "url" => means = self.url("url", value).map(Means::Url),
                "with" if job == Job::Charge => plan.with = Some(self.with(value)),
                other => self.unknown(key.span(), other, &["command", "url", "with"]),
            }
        }
        means
    }

    fn with(&mut self, value: &Value<'_>) -> Vec<Way> {
        let words = self.words("with", value);
        let mut ways = Vec::new();
        for word in &words {
            match Way::ALL.into_iter().find(|way| way.name() == word) {
                Some(way) => ways.push(way),
                None => {
                    let meant = suggestion(word, &Way::ALL.map(Way::name));
                    self.mistake(value.span(), format!("{word} is unknown{meant}"));
                }
            }
        }
        ways
    }

    fn hygiene(&mut self, value: &Value<'_>, plan: &mut Plan) {
        let Some(table) = self.table("hygiene", value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "logs" => plan.logs = self.words("logs", value),
                "command" => plan.dump = Some(self.command("command", value)),
                other => self.unknown(key.span(), other, &["logs", "command"]),
            }
        }
    }

    fn service(&mut self, value: &Value<'_>, plan: &mut Plan) {
        let Some(table) = self.table("service", value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "listen" => match self.word("listen", value).map(|word| word.parse::<SocketAddr>()) {
                    Some(Ok(address)) if address.ip().is_loopback() => plan.listen = address,
                    Some(_) => self.mistake(
                        value.span(),
                        "listen must be a loopback address such as \
                        127.0.0.1:8480"
                            .to_owned(),
                    ),
                    None => {}
                },
                other => self.unknown(key.span(), other, &["listen"]),
            }
        }
    }

    fn shop(&mut self, value: &Value<'_>, plan: &mut Plan) {
        let Some(table) = self.table("shop", value) else { return };
        let (mut command, mut ready) = (Vec::new(), None);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "command" => command = self.command("command", value),
                "ready" => ready = self.url("ready", value),
                other => self.unknown(key.span(), other, &["command", "ready"]),
            }
        }
        if command.is_empty() {
            self.mistake(value.span(), "[shop] needs a command that starts the shop".to_owned());
        }
        plan.shop = Some((command, ready));
    }

    fn redirect(&mut self, value: &Value<'_>, plan: &mut Plan) {
        let Some(table) = self.table("redirect", value) else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "encoding" => {
                    plan.encoding = self.word("encoding", value);
                    if plan.encoding.as_deref().is_some_and(|word| !matches!(word, "json" | "xml")) {
                        self.mistake(value.span(), "encoding must be \"json\" or \"xml\"".to_owned());
                    }
                }
                other => self.unknown(key.span(), other, &["encoding"]),
            }
        }
    }
}
