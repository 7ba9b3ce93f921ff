/** For a shell: leaves a process in a session of its own, as `setsid` does, which holds the shell's output for long. */
export const escaping = `'${process.execPath}' -e 'require("child_process").spawn("sleep", ["30"], { detached: true, stdio: "inherit" }).unref()'`;
