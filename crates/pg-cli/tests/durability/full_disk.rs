//! A disk that is full: an error for each write, nothing that was acknowledged lost, and on with it when there is space
//! again.

use std::{fs, process::Command};

use pg_support::{Dice, left_out};

use crate::durability::{Sandbox, command, under, writer::Writer};

/// What a file may have in all, in KiB: the store and some payments.
const KIB: u64 = 600;
/// More payments than fit.
const ENOUGH: usize = 5_000;

/// Namespaces in which a disk can be mounted: one that most systems let every user make, and one that root can make where they do not.
const NAMESPACES: [&str; 2] = ["-rm", "-m"];

/// A real one, of some hundred KiB.
#[test]
fn a_full_disk_is_an_error_and_not_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={}k none '{}'", 2 * KIB, folder.path().display());
    let may = |namespace: &&str| {
        let tried = Command::new("unshare").args([namespace, "sh", "-c", &mount]).output();
        tried.is_ok_and(|done| done.status.success())
    };
    let Some(namespace) = NAMESPACES.into_iter().find(may) else {
        left_out("this user may not mount a disk (`unshare -rm` fails): a full disk; the quota of a file is tested");
        return;
    };
    let ballast = folder.path().join("ballast");
    let script = format!(
        "exec unshare {namespace} sh -c \"{mount} && head -c {KIB}k /dev/zero >'{}' && exec \\\"\\$@\\\"\" sh \"$@\"",
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
    let mut sandbox = Sandbox::start(&store);
    // The redo log is longer from its start.
    limit(&sandbox, &(KIB * 2 * 1_024).to_string());
    let mut writer = goes_on_when_there_is_space(&sandbox, || limit(&sandbox, "unlimited"));
    sandbox.kill();
    writer.check_again();
    assert_eq!(writer.check(&mut Sandbox::start(&store).caller()), Vec::<String>::new());
}

/// The store is not in one file then, and the file alone would have none of the payments.
#[test]
fn a_stop_on_a_full_disk_is_reported_and_the_next_start_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    let [store, copy] = ["shop.sqlite", "copy.sqlite"].map(|name| folder.path().join(name));
    let sandbox = Sandbox::start(&store);
    let mut caller = sandbox.caller();
    let mut writer = Writer::new(1, Dice::new(1), "");
    (0..20).for_each(|_| writer.pay(&mut caller).unwrap());
    limit(&sandbox, "4096");
    sandbox.signal("-TERM");
    let (code, said) = sandbox.ended();
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("cannot close the store") && said.contains("copy none of these files alone"), "{said}");

    for key in ["", ".key"] {
        fs::copy(format!("{}{key}", store.display()), format!("{}{key}", copy.display())).unwrap();
    }
    let refused = command(&copy).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("-redo is missing or cut"), "{refused:?}");

    let again = Sandbox::start(&store);
    writer.check_again();
    assert_eq!(writer.check(&mut again.caller()), Vec::<String>::new());
    again.signal("-TERM");
    let (code, said) = again.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(!fs::exists(format!("{}-redo", store.display())).unwrap());
}

/// Sets the size that no file of the process may exceed, in bytes.
fn limit(sandbox: &Sandbox, size: &str) {
    let limited =
        Command::new("prlimit").args(["--pid", &sandbox.id().to_string(), &format!("--fsize={size}:")]).status();
    assert!(limited.unwrap().success());
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
