//! The memory of another process, as the kernel shows it.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
};

use crate::command::canary::{Canary, Form, Found, search};

const PAGE: usize = 4096;
/// How much is read at a time; what lies across two parts is found in the second, which begins in the first.
const PART: u64 = 4 << 20;
const OVERLAP: u64 = 256;

/// Occurrences of some canaries in a process, by place: `arguments`, `environment`, `stack`, `heap`.
///
/// Reads all writable memory of the process, once all of its threads are waiting.
///
/// # Errors
/// If the kernel denies access: only root can read the memory of a process that is not dumpable.
pub(crate) fn scan(process: u32, canaries: &[Canary]) -> io::Result<Found> {
    let forms: Vec<Form> = canaries.iter().flat_map(Canary::forms).collect();
    // Twice, since one thread may wake another.
    for _ in 0..2 {
        while !is_waiting(process)? {
            std::thread::yield_now();
        }
    }
    let mut memory = File::open(format!("/proc/{process}/mem"))?;
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let started_with = start_blocks(process)?;
    let mut found = Found::new();
    for (range, name) in maps.lines().filter_map(writable) {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + PART);
            let bytes = read(&mut memory, start..end);
            search_pages(&forms, &bytes, |form, at| {
                let address = start + at as u64;
                // The next part has it too.
                if end < range.end && address >= end - OVERLAP {
                    return;
                }
                let block = started_with.iter().find(|(_, block)| block.contains(&address));
                let place = block.map_or(if name == "[stack]" { "stack" } else { "heap" }, |(place, _)| place);
                *found.entry((form.canary, form.spelling, place.to_owned())).or_default() += 1;
            });
            start = if end == range.end { end } else { end - OVERLAP };
        }
    }
    Ok(found)
}

/// Whether all threads sleep: the third field of `stat`, after the name in parentheses.
fn is_waiting(process: u32) -> io::Result<bool> {
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread that has just ended may have woken another.
        let Ok(stat) = fs::read_to_string(thread?.path().join("stat")) else { return Ok(false) };
        if !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A line of the list of mappings: where it lies and what it is, if the process can write there.
fn writable(line: &str) -> Option<(Range<u64>, &str)> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let mode = words.next()?;
    let name = words.nth(3).unwrap_or_default();
    let address = |text| u64::from_str_radix(text, 16).ok();
    mode.starts_with("rw").then_some((address(start)?..address(end)?, name))
}

/// Where the kernel has put arguments and environment: fields 48 to 51 of `/proc/…/stat`, counted from 1.
fn start_blocks(process: u32) -> io::Result<[(&'static str, Range<u64>); 2]> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may hold blanks; after it comes the third field.
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let fields: Vec<u64> =
        after_name.split_whitespace().skip(45).take(4).filter_map(|field| field.parse().ok()).collect();
    match fields[..] {
        [a, b, c, d] if a > 0 => Ok([("arguments", a..b), ("environment", c..d)]),
        _ => Err(io::Error::other("no addresses in /proc/…/stat")),
    }
}

/// The bytes of a range; pages that cannot be read count as empty.
fn read(memory: &mut File, range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap()];
    if memory.seek(SeekFrom::Start(range.start)).and_then(|_| memory.read_exact(&mut bytes)).is_err() {
        for (page, at) in bytes.chunks_mut(PAGE).zip((range.start..).step_by(PAGE)) {
            if memory.seek(SeekFrom::Start(at)).and_then(|_| memory.read_exact(page)).is_err() {
                page.fill(0);
            }
        }
    }
    bytes
}

/// Most pages of a stack or a heap were never written to.
fn search_pages(forms: &[Form], bytes: &[u8], mut tell: impl FnMut(&Form, usize)) {
    let empty = [0; PAGE];
    let pages: Vec<&[u8]> = bytes.chunks(PAGE).collect();
    let mut at = 0;
    for run in pages.chunk_by(|one, other| (*one == &empty[..]) == (*other == &empty[..])) {
        let length = run.iter().map(|page| page.len()).sum::<usize>();
        if run[0] != &empty[..] {
            search(forms, &bytes[at..at + length], |form, offset| tell(form, at + offset));
        }
        at += length;
    }
}
