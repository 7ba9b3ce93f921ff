/** A shell command that leaves a process in its own session (like `setsid`) that holds the shell's output. */
export const escaping = `'${process.execPath}' -e 'require("child_process").spawn("sleep", ["30"], { detached: true, stdio: "inherit" }).unref()'`;
