// The variables that a process is started with can be read by every process of the same user (/proc/PID/environ, `ps e`),
// also after they were deleted. A command that hosts agents therefore erases all but plain ones from its initial memory. Where it
// cannot, it starts again with plain variables only, and reads the others from a descriptor. Plain JavaScript for Node 20, as the launcher.
import { builtin } from "./node-version.mjs";

const { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync, writeSync } = await builtin("node:fs");
const [{ tmpdir }, { join }] = [await builtin("node:os"), await builtin("node:path")];

/** Names the descriptor with the other variables, as JSON. */
const DESCRIPTOR = "TANDEM_ENVIRONMENT_DESCRIPTOR";

/**
 * Variables that hold no credential. Every other one may: `env:NAME` in a tandem.yaml can name any. Variables of the loader and
 * the allocator take effect only if they are there at the start.
 */
const PLAIN = new RegExp(
  `^(?:PATH HOME USER LOGNAME SHELL PWD OLDPWD SHLVL _ TMPDIR TMP TEMP HOSTNAME TERM TERM_PROGRAM TERM_PROGRAM_VERSION COLORTERM
  NO_COLOR FORCE_COLOR CLICOLOR LS_COLORS COLUMNS LINES LANG LANGUAGE LC_\\w+ TZ XDG_\\w+ DISPLAY WAYLAND_DISPLAY EDITOR VISUAL
  PAGER LESS LESSOPEN LESSCLOSE CI IS_SANDBOX DEBIAN_FRONTEND SSH_AUTH_SOCK SSH_TTY SSH_CONNECTION SSH_CLIENT
  DBUS_SESSION_BUS_ADDRESS INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET SYSTEMD_EXEC_PID MAIL NVM_\\w+ VIRTUAL_ENV
  NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE NODE_NO_WARNINGS NODE_PATH NODE_V8_COVERAGE NODE_ENV NODE_VERSION
  NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_SYSTEM_CA UV_THREADPOOL_SIZE OPENSSL_CONF SSL_CERT_FILE SSL_CERT_DIR
  LD_LIBRARY_PATH LD_PRELOAD DYLD_\\w+ GLIBC_TUNABLES MALLOC_\\w+ FAKETIME\\w*
  CLAUDE_CONFIG_DIR TANDEM_HOME TANDEM_MACHINE TANDEM_PROCESS_NAMESPACE
  npm_(?:command|execpath|node_execpath|lifecycle_\\w+|package_\\w+)
  npm_config_(?:cache|prefix|user_agent|node_gyp|noproxy|local_prefix|globalconfig|userconfig|init_module|global_prefix|npm_version)
  )$`
    .replaceAll(/\s+(?=\))/g, "")
    .replaceAll(/\s+/g, "|"),
);

/** Restores the variables of a process that was started by `cleanStart`. Returns whether it was. */
export function restoreEnvironment() {
  const descriptor = process.env[DESCRIPTOR];
  if (descriptor === undefined) return false;
  delete process.env[DESCRIPTOR];
  Object.assign(process.env, JSON.parse(readFileSync(Number(descriptor), "utf8")));
  closeSync(Number(descriptor));
  return true;
}

/** Whether a variable of this process may hold a credential. */
export const mayShowCredentials = () =>
  process.platform !== "win32" &&
  Object.entries(process.env).some(([name, value]) => value !== "" && !PLAIN.test(name));

/**
 * The command and variables that start `node file …args` without credentials among its variables. The others are in a
 * file for the moment until the shell has opened and removed it.
 */
export function cleanStart(node, file, args) {
  const variables = Object.entries(process.env);
  const folder = mkdtempSync(join(process.env.XDG_RUNTIME_DIR || tmpdir(), "tandem-"));
  const flags = node === process.execPath ? process.execArgv : [];
  const others = Object.fromEntries(variables.filter(([name]) => !PLAIN.test(name)));
  writeFileSync(join(folder, "variables"), JSON.stringify(others), { mode: 0o600, flag: "wx" });
  return {
    program: "/bin/sh",
    args: [
      "-c",
      'exec 9<"$1/variables" && rm -rf -- "$1" && shift && exec "$@"',
      "sh",
      folder,
      node,
      ...flags,
      file,
      ...args,
    ],
    env: { ...Object.fromEntries(variables.filter(([name]) => PLAIN.test(name))), [DESCRIPTOR]: "9" },
  };
}

/**
 * Erases the variables that may hold a credential from the memory that other processes can see. `process.env` keeps them.
 * Returns whether they are gone: only Linux has a way to do that.
 */
export function hideVariables() {
  if (process.platform !== "linux") return false;
  const others = Object.entries(process.env).filter(([name]) => !PLAIN.test(name));
  try {
    const initial = readFileSync("/proc/self/environ");
    const fields = readFileSync("/proc/self/stat", "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    // Field 50 of proc(5); the first one after the name is 3.
    const start = Number(fields[47]);
    const memory = openSync("/proc/self/mem", "r+");
    for (let at = 0; at < initial.length;) {
      const next = initial.indexOf(0, at);
      const end = next === -1 ? initial.length : next;
      const [name] = initial.toString("latin1", at, end).split("=", 1);
      if (!PLAIN.test(name)) writeSync(memory, Buffer.alloc(end - at), 0, end - at, start + at);
      at = end + 1;
    }
    closeSync(memory);
    return readFileSync("/proc/self/environ", "latin1")
      .split("\0")
      .every((entry) => entry === "" || PLAIN.test(entry.split("=", 1)[0]));
  } catch {
    return false;
  } finally {
    // They were read from that memory.
    Object.assign(process.env, Object.fromEntries(others));
  }
}
