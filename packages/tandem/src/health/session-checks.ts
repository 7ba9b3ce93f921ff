import { stat } from "node:fs/promises";
import { isPresent } from "../models/check-auth.ts";
import { bytes } from "../project/bytes.ts";
import { PAYERS, sessionPayerOf } from "../project/describe-project.ts";
import { checkSessionAuth, readFolderTrust, readSandboxState, readStorageState } from "./sessions-overview.ts";
import { findServer } from "../server/server-file.ts";
import { describeSandbox, readSandboxOverview } from "./sandbox-overview.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { describeUnaskedBash, findUnaskedBash } from "./unasked-bash.ts";
import { describePresent } from "./service-checks.ts";
import { readVaultKeyProblem } from "./vault-key-problem.ts";
import { user } from "./user-check.ts";

// Shorter than the timeout of a check, so that the check can report the cause.
const AUTH_MS = 15_000;
const READY_MS = 5_000;

const storage: Check = {
  name: "storage",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted) return undefined;
    const found = await readStorageState(host, project);
    if (found.state === "failed") return failure(found.detail, found.fix || undefined);
    if (found.state === "not_yet") return ok(`${found.place} will be created on first use.`);
    const what = `${found.place}, ${bytes(found.bytes)}, schema ${found.schema}`;
    if (found.engine === "sqlite" && process.platform !== "win32") {
      const { mode } = await stat(found.place);
      if ((mode & 0o077) !== 0) return warning(`${what}, is readable by other users.`, `chmod 600 ${found.place}`);
    }
    const by = found.chosen_by === "DATABASE_URL" ? ", from DATABASE_URL" : "";
    return ok(`${what}${by}.`);
  },
};

/** Skipped if sessions use the backend's credential, which has its own check. */
const sessions: Check = {
  name: "sessions",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted || project.config.llm.provider.backend === "claude-code") return undefined;
    const payer = PAYERS[sessionPayerOf(project.config.llm)];
    const auth = await checkSessionAuth(host, project, AUTH_MS);
    if (isPresent(auth)) return ok(`Sessions run on Claude Code, billed to ${payer}. ${describePresent(auth)}`);
    // A warning only: single calls do not need this credential.
    return warning(`Sessions run on Claude Code, but ${payer} cannot be used: ${auth.detail}`, auth.fix);
  },
};

const server: Check = {
  name: "server",
  async run({ host, isServerReady }, signal) {
    const info = await findServer(host.env);
    if (!info) return undefined;
    const isReady = await isServerReady(info, AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]));
    if (!isReady) return failure(`${info.url} (pid ${info.pid}) is running but not ready.`, "tandem logs --level warn");
    return info.demo
      ? warning(`${info.url} is running as a demo with scripted replies.`)
      : ok(`${info.url} is running.`);
  },
};

const folder: Check = {
  name: "folder",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted) return undefined;
    const { state, files, reason } = await readFolderTrust(host, project);
    switch (state) {
      case "empty":
        return undefined;
      case "trusted":
        return ok(`Sessions load its ${files.length} configuration files.`);
      case "refused":
        return warning(`Sessions do not load its configuration: ${reason ?? ""}`);
      case "untrusted":
        return warning("Not trusted: its hooks, MCP servers and skills are not loaded.", "tandem trust --folder");
      case "changed":
        return warning("Changed since you trusted it, so it is not loaded.", "tandem trust --folder");
    }
  },
};

const sandbox: Check = {
  name: "sandbox",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted) return undefined;
    const old = project.settings.find(
      ({ path, value }) => path === "sandbox.domains" || (path === "sandbox.mode" && value === "try"),
    );
    if (old) {
      const [was, now] = old.path === "sandbox.domains" ? ["domains", "hosts"] : ["mode: try", "mode: auto"];
      return warning(
        `sandbox.${was} is an old name, read for one more version.`,
        `Write sandbox.${now} in tandem.yaml.`,
      );
    }
    if (project.config.sandbox.mode === "off") return undefined;
    const overview = await readSandboxState(host, project);
    if (!overview.on) {
      const say = overview.mode === "require" ? failure : warning;
      const effect =
        overview.mode === "require" ? "No session can run: a sandbox is required" : "Sessions run without a sandbox";
      return say(`${effect}. ${overview.reason ?? ""}.`, overview.fix);
    }
    const details = describeSandbox(overview).join("; ");
    if (overview.fix !== undefined) return warning(`Sessions run in a sandbox; ${details}.`, overview.fix);
    return ok(`Sessions run in a sandbox${details ? `; ${details}` : ""}.`);
  },
};

/** In the sandbox, a command that runs unasked sees the session's folder only. */
const unaskedBash: Check = {
  name: "commands",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted || (await readSandboxOverview(host, project)).on) return undefined;
    let unasked: readonly string[] = [];
    await readStorageState(host, project, async (store) => {
      unasked = await findUnaskedBash(project.config, store);
    });
    if (unasked.length === 0) return undefined;
    return warning(describeUnaskedBash(unasked), "tandem config set sandbox.mode require");
  },
};

/** Says nothing without vaults. */
const vaults: Check = {
  name: "vaults",
  async run({ host, here: project, trusted }) {
    if (!project || !trusted) return undefined;
    let problem: { detail: string; fix: string } | undefined;
    await readStorageState(host, project, async (store) => {
      problem = await readVaultKeyProblem(host, project, store);
    });
    return problem && failure(problem.detail, problem.fix);
  },
};

export const sessionChecks: readonly Check[] = [storage, vaults, sessions, server, folder, sandbox, unaskedBash, user];
