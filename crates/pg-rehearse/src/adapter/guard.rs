//! Ends the processes of a rehearsal if the rehearsal itself is killed.

/// A process that waits for the end of this one. It knows the running process groups, and kills them if this process
/// ends without ending them, for example by `kill -9`.
///
/// The guard learns of groups through a pipe, which the operating system closes with this process. If this process is
/// killed between the start of a group and that message, the group keeps running. Only Unix systems have a guard.
pub(crate) struct Guard {
    #[cfg(unix)]
    running: std::sync::Mutex<Option<(std::process::Child, std::process::ChildStdin)>>,
}

/// Keeps a list of groups. At the end of its input, kills the groups that are still in the list.
#[cfg(unix)]
const SCRIPT: &str = r#"
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
"#;

#[cfg(unix)]
impl Guard {
    pub(crate) fn start() -> Result<Self, String> {
        use std::{
            os::unix::process::CommandExt as _,
            process::{Command, Stdio},
            sync::Mutex,
        };

        let mut command = Command::new("/bin/sh");
        // In its own group: Ctrl-C at a terminal ends this process first.
        command.args(["-c", SCRIPT]).process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot start /bin/sh: {error}"))?;
        let input = child.stdin.take().ok_or("/bin/sh has no standard input")?;
        Ok(Self { running: Mutex::new(Some((child, input))) })
    }

    /// Reports that this group runs.
    pub(super) fn add(&self, group: i32) {
        self.tell('+', group);
    }

    /// Reports that the group has ended, so its number may be reused.
    pub(super) fn remove(&self, group: i32) {
        self.tell('-', group);
    }

    fn tell(&self, what: char, group: i32) {
        use std::{io::Write as _, sync::PoisonError};

        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // A rehearsal continues without its guard: processes keep running only if the rehearsal is killed.
        if let Some((_, input)) = running.as_mut()
            && writeln!(input, "{what} {group}").is_err()
        {
            *running = None;
        }
    }
}

#[cfg(unix)]
impl Drop for Guard {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some((mut child, input)) = running {
            drop(input);
            // The guard ends when its input ends.
            drop(child.wait());
        }
    }
}

#[cfg(not(unix))]
impl Guard {
    pub(crate) fn start() -> Result<Self, String> {
        Ok(Self {})
    }
}
