//! A disk that is full: an error for each write, nothing that was acknowledged lost, and on with it when there is space
//! again.

use std::{fs, process::Command};

use pg_support::Dice;

use crate::durability::{Sandbox, under, writer::Writer};

/// What a file may have in all, in KiB: the store and some payments.
const KIB: u64 = 600;
/// More payments than fit.
const ENOUGH: usize = 5_000;

/// A real one, of some hundred KiB; a new namespace lets every user mount it.
#[test]
fn a_full_disk_is_an_error_and_not_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={}k none '{}'", 2 * KIB, folder.path().display());
    if !Command::new("unshare").args(["-rm", "sh", "-c", &mount]).output().is_ok_and(|done| done.status.success()) {
        eprintln!("left out, because this user may not mount a disk; the quota of a file is tested all the same");
        return;
    }
    let ballast = folder.path().join("ballast");
    let script = format!(
        "exec unshare -rm sh -c \"{mount} && head -c {KIB}k /dev/zero >'{}' && exec \\\"\\$@\\\"\" sh \"$@\"",
        ballast.display()
    );
    let store = folder.path().join("shop.sqlite");
    let sandbox = Sandbox::started(under(&script, &store)).unwrap();
    // The disk is seen from inside only.
    let inside = format!("/proc/{}/root{}", sandbox.id(), ballast.display());
    goes_on_when_there_is_space(&sandbox, || fs::remove_file(&inside).unwrap());
}

/// `RLIMIT_FSIZE`, whose signal ends a process that does not expect it.
#[test]
fn the_quota_of_a_file_is_an_error_and_not_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let mut sandbox = Sandbox::started(under(&format!("ulimit -S -f {}; exec \"$@\"", KIB * 2), &store)).unwrap();
    let id = sandbox.id().to_string();
    let mut writer = goes_on_when_there_is_space(&sandbox, || {
        assert!(Command::new("prlimit").args(["--pid", &id, "--fsize=unlimited"]).status().unwrap().success());
    });
    sandbox.kill();
    writer.check_again();
    assert_eq!(writer.check(&mut Sandbox::start(&store).caller()), Vec::<String>::new());
}

/// Pays until the disk is full, then `makes_space`.
fn goes_on_when_there_is_space(sandbox: &Sandbox, makes_space: impl FnOnce()) -> Writer {
    let mut caller = sandbox.caller();
    let mut writer = Writer::new(1, Dice::new(1), "");
    let full = (0..ENOUGH).find_map(|_| writer.pay(&mut caller).err());
    let (mut refused, mut reply) = *full.expect("the disk is never full");
    for _ in 0..3 {
        assert_eq!((reply.status, &reply.body["errorCode"]), (500, &"999".into()), "{reply:?}");
        (refused, reply) = *writer.attempt(refused, &mut caller).expect_err("there is no space");
    }
    assert!(!writer.acknowledged.is_empty());
    assert_eq!(writer.check(&mut caller), Vec::<String>::new());
    assert!(caller.lookup("uniqueMerchantReference", refused.reference.as_ref().unwrap()).is_empty());

    makes_space();
    // It has not happened, so its reference is free.
    writer.attempt(refused, &mut caller).unwrap();
    (0..20).for_each(|_| writer.pay(&mut caller).unwrap());
    assert_eq!(writer.check(&mut caller), Vec::<String>::new());
    writer
}
