//! Oracles: checks whether the page reveals why data could not be read. The proof is a block that is decrypted without
//! the key.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderMap;

use super::{Genuine, Redirect, cipher, open};
use crate::{
    clock::Clock,
    finding::{Finding, Lane},
    house::{SetupError, text},
    judge::{doubt, fault},
    plan::{Job, Means},
    shop::Seen,
    stage::Stage,
};

const BLOCK: usize = 16;
/// The time limit of a decryption.
const ATTACK: Duration = Duration::from_secs(45);
/// The number of concurrent guesses.
const AT_ONCE: usize = 16;
/// The number of timed requests of each kind.
const TIMED: usize = 30;
/// A time difference that is visible over a network.
const NOTICEABLE: Duration = Duration::from_millis(4);

/// The parts of a response that an attacker sees.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sign {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

pub(super) async fn play(stage: &Stage, story: Redirect, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    match story {
        Redirect::TimingOracle => timing(stage, genuine).await,
        _ => answers(stage, story, genuine).await,
    }
}

async fn answers(stage: &Stage, story: Redirect, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let samples = Samples::of(stage, genuine)?;
    let steady = Steady::find(stage, &samples.padding[0]).await?;
    let mut signs = [Vec::new(), Vec::new(), Vec::new()];
    let mut hidden = None;
    for (kind, all) in [&samples.padding, &samples.text, &samples.syntax].into_iter().enumerate() {
        for data in all {
            let seen = open(stage, data, &genuine.iv).await?;
            signs[kind].push(steady.sign(&seen, data, &genuine.iv));
            hidden = hidden.or_else(|| genuine.not_read(&seen));
        }
    }
    let [padding, text, syntax] = &signs;
    stage.wire().note(
        Lane::Wire,
        Lane::Integration,
        format!(
            "the reply to bad padding is HTTP {}, to invalid UTF-8 {}, to invalid {} {}",
            padding[0][1].status, text[0][1].status, genuine.encoding, syntax[0][1].status
        ),
    );
    let told_apart = padding.iter().all(|sign| sign == &padding[0]) && text.iter().all(|sign| sign != &padding[0]);
    if story == Redirect::FormatOracle {
        let differ = !told_apart && syntax.iter().any(|sign| text.iter().all(|other| other != sign));
        return Ok(if differ {
            let why = format!("the page replies differently to invalid UTF-8 and to invalid {}", genuine.encoding);
            vec![fault("format-oracle", why)]
        } else {
            hidden.into_iter().collect()
        });
    }
    if !told_apart {
        return Ok(hidden.into_iter().collect());
    }
    let found = attack(stage, genuine, &steady, &padding[0]).await?;
    Ok(vec![fault("padding-oracle", proof(genuine, &found))])
}

fn proof(genuine: &Genuine, found: &[u8]) -> String {
    let real = genuine.plain.as_bytes().get(BLOCK..2 * BLOCK).unwrap_or_default();
    let right = !found.is_empty() && real.ends_with(found);
    let shown = String::from_utf8_lossy(found);
    if right {
        format!(
            "the page replies differently to bad padding and to other bad data. This decrypted {} of 16 bytes of a \
            block correctly, without the key: “{shown}”",
            found.len()
        )
    } else {
        "the page replies differently to bad padding and to other bad data, which lets an attacker decrypt".to_owned()
    }
}

/// Unreadable data, each for one reason.
struct Samples {
    padding: Vec<String>,
    text: Vec<String>,
    syntax: Vec<String>,
}

impl Samples {
    fn of(stage: &Stage, genuine: &Genuine) -> Result<Self, SetupError> {
        let bytes = STANDARD.decode(&genuine.data).map_err(text)?;
        let length = bytes.len();
        let altered = |at: usize, by: u8| {
            let mut altered = bytes.clone();
            altered[at] ^= by;
            STANDARD.encode(&altered)
        };
        // Changes the last byte of the block before the last one: the padding becomes longer than a block.
        let padding = [0x40, 0x60, 0x70].map(|by| altered(length - BLOCK - 1, by)).to_vec();
        // The first block becomes noise, and the second block gets bytes outside ASCII. The padding does not change.
        let text = [0x80, 0xc0, 0xa0].map(|by| altered(3, by)).to_vec();
        let cipher = cipher(stage)?;
        let syntax = ["this is neither JSON nor XML", "[1, 2", "<a><b></a>"]
            .iter()
            .map(|plain| cipher.encrypt(plain, &genuine.iv).map_err(crate::house::text))
            .collect::<Result<_, _>>()?;
        Ok(Self { padding, text, syntax })
    }
}

/// The parts that do not change when the request is repeated, of the first reply and of the page to which it redirects.
struct Steady([Parts; 2]);

impl Steady {
    async fn find(stage: &Stage, data: &str) -> Result<Self, SetupError> {
        let iv = "0123456789abcdef";
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(open(stage, data, iv).await?);
        }
        Ok(Self([0, 1].map(|at| Parts::steady(&seen.iter().map(|one| ends(one)[at]).collect::<Vec<_>>()))))
    }

    fn sign(&self, seen: &Seen, data: &str, iv: &str) -> [Sign; 2] {
        [0, 1].map(|at| self.0[at].sign(ends(seen)[at], data, iv))
    }
}

/// Returns the first and the last response to the browser, which are the same one without a redirect.
fn ends(seen: &Seen) -> [&Seen; 2] {
    [seen.first(), seen]
}

/// Parts of a response; other parts prove nothing.
struct Parts {
    body: bool,
    headers: Vec<String>,
}

impl Parts {
    /// Returns the parts that are the same in all of these responses.
    fn steady(seen: &[&Seen]) -> Self {
        let same = |read: &dyn Fn(&Seen) -> String| seen.iter().all(|one| read(one) == read(seen[0]));
        let names = seen[0].headers.keys().map(ToString::to_string);
        let headers = names.filter(|name| name != "date" && same(&|one| one.header(name).to_owned())).collect();
        Self { body: same(&|one| one.body.clone()), headers }
    }

    fn sign(&self, seen: &Seen, data: &str, iv: &str) -> Sign {
        // A page may repeat its parameters.
        let body = if self.body { seen.body.replace(data, "").replace(iv, "") } else { String::new() };
        Sign { status: seen.status, headers: self.headers_of(&seen.headers), body }
    }

    fn headers_of(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let read =
            |name: &String| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        self.headers.iter().filter(|name| *name != "content-length").map(|name| (name.clone(), read(name))).collect()
    }
}

/// Vaudenay's attack on the second block of the data: it needs only the page's reaction to the padding. Returns the
/// bytes found within the time limit, the last ones of the block.
async fn attack(stage: &Stage, genuine: &Genuine, steady: &Steady, bad: &[Sign; 2]) -> Result<Vec<u8>, SetupError> {
    let bytes = STANDARD.decode(&genuine.data).map_err(text)?;
    let (Some(before), Some(target)) = (bytes.get(..BLOCK), bytes.get(BLOCK..2 * BLOCK)) else { return Ok(Vec::new()) };
    let is_command = matches!(stage.troupe.plan.jobs.get(&Job::OpenRedirect), Some(Means::Command(_)));
    let clock = Clock::start();
    let mut inner = [0u8; BLOCK];
    let mut requests = 0;
    let mut found = BLOCK;
    for at in (0..BLOCK).rev() {
        // A program that is started for each guess is too slow for a whole block.
        if clock.elapsed() > ATTACK || (is_command && at < BLOCK - 1) {
            break;
        }
        let Some(guess) = byte(stage, genuine, steady, bad, &inner, at, target, &mut requests).await? else { break };
        inner[at] = guess ^ u8::try_from(BLOCK - at).unwrap_or(0);
        found = at;
    }
    let plain: Vec<u8> = inner.iter().zip(before).map(|(inner, before)| inner ^ before).collect();
    let text = String::from_utf8_lossy(&plain[found..]).into_owned();
    stage.wire().note(
        Lane::Wire,
        Lane::Integration,
        format!("{requests} requests later, {} bytes are decrypted without the key: {text}", BLOCK - found),
    );
    Ok(plain[found..].to_vec())
}

/// Returns the byte at this place of a forged block for which the page accepts the padding.
#[expect(clippy::too_many_arguments, reason = "one round of the attack, with everything found so far")]
async fn byte(
    stage: &Stage,
    genuine: &Genuine,
    steady: &Steady,
    bad: &[Sign; 2],
    inner: &[u8; BLOCK],
    at: usize,
    target: &[u8],
    requests: &mut usize,
) -> Result<Option<u8>, SetupError> {
    let padding = u8::try_from(BLOCK - at).unwrap_or(0);
    let forged = |guess: u8, other: u8| {
        let mut block = [0x55; BLOCK];
        for later in at + 1..BLOCK {
            block[later] = inner[later] ^ padding;
        }
        block[at] = guess;
        if at > 0 {
            block[at - 1] = other;
        }
        // With a block in front, so that the decrypted forged block is read as text too.
        STANDARD.encode([&block[..], target].concat())
    };
    for first in (0..=255u8).step_by(AT_ONCE) {
        let guesses: Vec<u8> = (first..=first.saturating_add(15)).collect();
        let asked = guesses.iter().map(|&guess| {
            let data = forged(guess, 0x55);
            async move { open(stage, &data, &genuine.iv).await.map(|seen| steady.sign(&seen, &data, &genuine.iv)) }
        });
        *requests += guesses.len();
        for (sign, guess) in together(asked).await.into_iter().zip(&guesses) {
            if sign? == *bad {
                continue;
            }
            // Excludes a longer padding that is valid by chance.
            let data = forged(*guess, 0xaa);
            *requests += 1;
            if steady.sign(&open(stage, &data, &genuine.iv).await?, &data, &genuine.iv) != *bad {
                return Ok(Some(*guess));
            }
        }
    }
    Ok(None)
}

/// Waits for all futures concurrently.
async fn together<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        let mut all = true;
        for (future, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => all = false,
                }
            }
        }
        if all { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Returns the times of both kinds of bad data, measured alternately.
async fn timing(stage: &Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    if matches!(stage.troupe.plan.jobs.get(&Job::OpenRedirect), Some(Means::Command(_))) {
        return Ok(vec![doubt(
            "not-timed",
            "the plan starts a program for each redirect, which hides timing differences",
        )]);
    }
    let samples = Samples::of(stage, genuine)?;
    let (mut padding, mut other) = (Vec::new(), Vec::new());
    for _ in 0..TIMED {
        for (data, times) in [(&samples.padding[0], &mut padding), (&samples.text[0], &mut other)] {
            let clock = Clock::start();
            open(stage, data, &genuine.iv).await?;
            times.push(clock.elapsed());
        }
    }
    padding.sort_unstable();
    other.sort_unstable();
    let (one, two) = (padding[TIMED / 2], other[TIMED / 2]);
    // Nine tenths of the times of one kind are longer than nine tenths of the other's.
    let apart = |low: &[Duration], high: &[Duration]| high[TIMED / 10] > low[TIMED - 1 - TIMED / 10];
    let differ = one.abs_diff(two) >= NOTICEABLE && (apart(&padding, &other) || apart(&other, &padding));
    stage.wire().note(Lane::Wire, Lane::Integration, format!("bad padding takes {one:?}, other bad data {two:?}"));
    Ok(if differ {
        vec![fault(
            "timing-oracle",
            format!(
                "the reply to bad padding takes {one:?}, to other bad data \
        {two:?}"
            ),
        )]
    } else {
        Vec::new()
    })
}
