//! The corpus of the repository: the smallest set of small inputs that reaches what has been reached.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Result, bail};

use super::{FOLDER, Run};

/// What all inputs of one target may take in the repository.
const MOST_BYTES: u64 = 48 << 10;
/// What one input may take.
const LONGEST: u64 = 4 << 10;

/// With more inputs than these, a run spends much of its time reading those of earlier ones.
const MOST_FOUND: usize = 2_000;

/// Removes found inputs that reach nothing of their own, if there are many.
pub(super) fn shrink(run: &Run<'_>, target: &str) -> Result<()> {
    let found = run.folder("found", target)?;
    if fs::read_dir(&found)?.count() <= MOST_FOUND {
        return Ok(());
    }
    let merged = run.folder("merged", target)?;
    fs::remove_dir_all(&merged)?;
    fs::create_dir_all(&merged)?;
    let mut merge = run.program(target);
    merge.args(["-merge=1", "-max_len=4096"]).args([&merged, &found]);
    if merge.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success() {
        fs::remove_dir_all(&found)?;
        fs::rename(&merged, &found)?;
    }
    Ok(())
}

/// Merges new inputs with those in the repository, and rewrites the folder.
pub(super) fn keep(run: &Run<'_>, target: &str) -> Result<()> {
    let merged = run.folder("merged", target)?;
    fs::remove_dir_all(&merged)?;
    fs::create_dir_all(&merged)?;
    let mut merge = run.program(target);
    merge.args(["-merge=1", &format!("-max_len={LONGEST}")]).arg(&merged);
    merge.args(run.known(target)).arg(run.folder("found", target)?);
    if !merge.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success() {
        bail!("the corpus of {target} could not be merged");
    }
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&merged)? {
        let path = entry?.path();
        files.push((fs::metadata(&path)?.len(), path));
    }
    // Small ones first: more of them fit, and each covers something.
    files.sort();
    let corpus = run.root.join(FOLDER).join("corpus").join(target);
    if corpus.is_dir() {
        fs::remove_dir_all(&corpus)?;
    }
    fs::create_dir_all(&corpus)?;
    let (all, mut kept, mut bytes) = (files.len(), 0, 0);
    for (length, path) in files {
        bytes += length;
        if bytes > MOST_BYTES {
            break;
        }
        fs::copy(&path, corpus.join(path.file_name().unwrap_or_default()))?;
        kept += 1;
    }
    println!("{kept} of {all} inputs are the corpus of {target} now");
    Ok(())
}
