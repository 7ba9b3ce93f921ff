import { execFile } from "node:child_process";
import { access, constants, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readProcessNamespace, sweepProcesses } from "../compose.ts";
import { tandemHome } from "../config/tandem-home.ts";
import { type Check, failure, ok, warning } from "./check.ts";

const WANTED_NODE = 24;

const node: Check = {
  name: "node",
  async run() {
    const major = Number(process.versions.node.split(".")[0]);
    if (major >= WANTED_NODE) return ok(`Node ${process.versions.node}.`);
    return failure(
      `Node ${process.versions.node}; Tandem runs on ${WANTED_NODE}.`,
      "Run npm install where Tandem is installed.",
    );
  },
};

const git: Check = {
  name: "git",
  async run({ host }, signal) {
    try {
      const { stdout } = await promisify(execFile)("git", ["--version"], { env: host.env, signal });
      return ok(`${stdout.trim()}.`);
    } catch {
      return warning("git was not found; checkpoints and worktrees need it.", "Install git from https://git-scm.com.");
    }
  },
};

/** The folder decides which folders may run programs, so other users must not read or change it. */
const home: Check = {
  name: "home",
  async run({ host: { env } }) {
    const folder = tandemHome(env);
    const info = await stat(folder).catch(() => undefined);
    if (!info) return ok(`${folder} will be created on first use.`);
    if (!info.isDirectory()) return failure(`${folder} is not a folder.`, "Move it away, or set TANDEM_HOME.");
    const writable = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!writable) {
      const fix = `Make it writable (chmod u+rwx ${folder}), or set TANDEM_HOME to another folder.`;
      return failure(`${folder} is not writable.`, fix);
    }
    if (process.platform === "win32") return ok(folder);
    // The group of tenants' OS users may pass, but not list it.
    if ((info.mode & 0o067) !== 0) return warning(`${folder} is accessible to other users.`, `chmod 700 ${folder}`);
    const list = await stat(join(folder, "trusted.json")).catch(() => undefined);
    if (list && (list.mode & 0o077) !== 0) {
      return warning(`${folder}/trusted.json is accessible to other users.`, `chmod 600 ${folder}/trusted.json`);
    }
    return ok(`${folder} is private.`);
  },
};

const processes: Check = {
  name: "processes",
  async run({ host: { env } }) {
    const { killed, left } = await sweepProcesses(env);
    if (left.length > 0)
      return failure(`Orphaned processes that could not be ended: ${left.join(", ")}.`, `kill -9 ${left.join(" ")}`);
    if (killed.length > 0) return warning(`Ended ${killed.length} orphaned processes.`);
    const { on, reason = "" } = await readProcessNamespace();
    if (on) return ok("No orphaned processes. Claude Code runs in a pid namespace that ends with it.");
    const limit = `No orphaned processes. Without a pid namespace (${reason}), a process can outlive its session.`;
    return process.platform === "linux" ? warning(limit, "Install bubblewrap.") : ok(limit);
  },
};

/** An administrator's managed policy also applies to isolated calls. Tandem cannot see its hooks and variables. */
const policy: Check = {
  name: "policy",
  async run({ project }) {
    const { MANAGED_FOLDERS } = await import("@tandem/claude-code/processes");
    const folder = MANAGED_FOLDERS[process.platform];
    if (!folder || project?.config.llm.provider.backend !== "claude-code") return undefined;
    const files = await readdir(folder).catch(() => []);
    if (files.length === 0) return undefined;
    return warning(`Claude Code is under a managed policy: ${files.map((file) => join(folder, file)).join(", ")}.`);
  },
};

export const machineChecks: readonly Check[] = [node, git, home, processes, policy];
