import { asCalled } from "../../called-as.ts";
import { TandemError, type Trust } from "@tandem/protocol";
import type { RoleModel } from "@tandem/runtime";
import { existsSync } from "node:fs";
import { type AuthCheck, checkAuth, type ClaudeBinary, checkClaudeCode, withoutModels } from "@tandem/tandem/models";
import { type Project, requireTrust } from "@tandem/tandem/config";
import { exitCodeOfAuth } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import {
  credentialOf,
  describeProject,
  openCallProject,
  payerOf,
  describeSecret,
  PAYERS,
  bytes,
} from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { describeSandbox, readSessionsOverview, type SessionsOverview, type StorageState } from "@tandem/tandem/health";
import { ago } from "../../human-units.ts";
import { printable, styleFor, table, write, writeJson, type Style } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(command.addOption(json()).action(runner(status)), "tandem status", "tandem status --json | jq -r .backend");
}

const DEADLINE_MS = 15_000;
const NEEDS_A_LOOK: ReadonlySet<AuthCheck["state"]> = new Set(["missing", "expired", "rejected"]);

/** Shows backend, payer and credential. Exits with 0 unless calls are known to fail. */
export async function status(invocation: Invocation): Promise<number> {
  const project = await openCallProject(invocation);
  const { llm } = project.config;
  const { models, ignored } = await describeProject(project);
  const [auth, sessions, claudeCode] = await (async () => {
    using _ = new Progress(invocation, "Checking the login or key …");
    const auth = checkAuth(invocation, project, DEADLINE_MS);
    const sessions = readSessionsOverview(invocation, project, { deadlineMs: DEADLINE_MS, callAuth: () => auth });
    return Promise.all([auth, sessions, describeClaudeCode(invocation, project)]);
  })();
  const { backend } = llm.provider;
  const payer = payerOf(llm);
  const credential = credentialOf(llm);
  const hasFile = existsSync(project.file);
  if (invocation.json) {
    const {
      payer: sessionPayer,
      auth: sessionAuth,
      storage,
      server,
      orphans,
      trust,
      sandbox,
      vaultKey,
      namespace,
    } = sessions;
    const report = {
      file: hasFile ? project.file : null,
      backend,
      payer,
      credential: credential && describeSecret(credential),
      auth: withoutModels(auth),
      models,
      ignored,
      claude_code: claudeCode,
      sessions: { payer: sessionPayer, auth: withoutModels(sessionAuth), trust, sandbox, namespace },
      storage,
      vault_key: vaultKey ?? null,
      server: server ?? null,
      orphans,
    };
    await writeJson(invocation.stdout, report);
    return exitCodeOfAuth(auth);
  }
  const style = styleFor(invocation.stdout);
  const { dim, warn } = style;
  const rows = [
    [dim("config"), hasFile ? printable(project.file) : dim("no file here or in a parent folder: default settings")],
    [dim("backend"), backend],
    [dim("billed to"), PAYERS[payer] + (credential ? dim(`  ${printable(describeSecret(credential))}`) : "")],
    [dim("auth"), describeAuth(auth, style)],
    ...(auth.fix ? [["", `${dim("→")} ${asCalled(printable(auth.fix))}`]] : []),
    ...(NEEDS_A_LOOK.has(auth.state)
      ? [["", `${dim("→")} ${asCalled("tandem credentials")} lists the credentials on this machine`]]
      : []),
    ...modelRows(models, style),
    [dim("claude code"), ...claudeCodeCells(claudeCode, style)],
    ...("fix" in claudeCode ? [["", `${dim("→")} ${asCalled(printable(claudeCode.fix))}`]] : []),
    ...ignored.map(({ key, why }, i) => [i === 0 ? warn("ignored") : "", `${key}  ${dim(why)}`]),
    ...sessionRows(sessions, style),
  ];
  await write(invocation.stdout, `${table(rows).join("\n")}\n`);
  return exitCodeOfAuth(auth);
}

/** The Claude Code in use, or the reason why there is none. Does not run a binary named by an untrusted folder. */
async function describeClaudeCode(
  invocation: Invocation,
  project: Project,
): Promise<ClaudeBinary | { problem: string; fix: string }> {
  try {
    if (invocation.claudePath === undefined) await requireTrust(invocation.env, project);
    return await checkClaudeCode(invocation, project);
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    return { problem: error.message, fix: error.fix };
  }
}

function claudeCodeCells(found: ClaudeBinary | { problem: string }, { dim, bad, warn }: Style): string[] {
  if ("problem" in found) return [`${bad("unusable")}  ${printable(found.problem)}`];
  const origin = found.bundled ? "included with Tandem" : printable(found.path);
  return [`${found.version}  ${found.warning ? `${warn("not tested")}  ` : ""}${dim(origin)}`];
}

const PAINTS: Partial<Record<AuthCheck["state"], "good" | "bold" | "warn">> = {
  usable: "good",
  found: "bold",
  unverified: "warn",
};

export function describeAuth({ state, detail }: AuthCheck, style: Style): string {
  const paint = PAINTS[state] ?? "bad";
  return `${style[paint](state.replace("_", " "))}  ${printable(detail)}`;
}

/** One line per role. Marks roles that use the default model. */
export function modelRows(models: readonly RoleModel[], { dim }: Style): string[][] {
  const lines = table(
    models.map(({ role, model, fallsBack }) => [
      role,
      fallsBack ? dim(model) : model,
      fallsBack ? dim("default model") : "",
    ]),
  );
  return lines.map((line, i) => [i === 0 ? dim("models") : "", line]);
}

function sessionRows(overview: SessionsOverview, style: Style): string[][] {
  const { payer, auth, storage, server, orphans, trust, sandbox, vaultKey, namespace } = overview;
  const { dim, warn, good } = style;
  const up = server && `pid ${server.pid}, started ${ago(server.started_at)}`;
  const fix = (text: string): string[][] => (text ? [["", `${dim("→")} ${asCalled(printable(text))}`]] : []);
  return [
    [
      dim("sessions"),
      server?.demo
        ? warn("not billed: the running server is a demo")
        : `billed to ${PAYERS[payer]}  ${describeAuth(auth, style)}`,
    ],
    ...(server?.demo ? [] : fix(auth.fix)),
    [dim("folder"), describeTrust(trust, style)],
    ...fix(trust.state === "untrusted" || trust.state === "changed" ? "tandem trust --folder" : ""),
    [
      dim("sandbox"),
      sandbox.on ? `${good("on")}  ${dim(sandbox.reason ?? "")}`.trim() : dim(`off  ${sandbox.reason ?? ""}`),
    ],
    ...describeSandbox(sandbox).map((line) => ["", dim(printable(line))]),
    ...(sandbox.mode === "off" ? [] : fix(sandbox.fix ?? "")),
    ...(sandbox.warning === undefined ? [] : [["", warn(printable(sandbox.warning))]]),
    [dim("processes"), namespace.on ? "in a pid namespace" : dim(`without a pid namespace  ${namespace.reason ?? ""}`)],
    [dim("storage"), describeStorage(storage, style)],
    ...fix(storage.state === "failed" ? storage.fix : ""),
    ...(vaultKey ? [[dim("vaults"), warn(printable(vaultKey.detail))], ...fix(vaultKey.fix)] : []),
    [dim("server"), server ? `${good(server.url)}  ${dim(up ?? "")}` : dim("not running  start it: tandem up")],
    ...(orphans.length > 0
      ? [["", `${warn(`${orphans.length} left by a crash`)}  ${dim("end them: tandem doctor")}`]]
      : []),
  ];
}

function describeTrust({ state, files, since, reason }: Trust, { dim, good, warn }: Style): string {
  const what = files.length === 1 ? "1 file" : `${files.length} files`;
  switch (state) {
    case "trusted":
      return `${good("trusted")}  ${dim(`${what} of configuration${since ? `, ${ago(since)}` : ""}`)}`;
    case "empty":
      return dim("nothing needs trust");
    case "untrusted":
      return `${warn("untrusted")}  ${what} of configuration are not loaded in sessions`;
    case "changed":
      return `${warn("changed")}  since you trusted it; ${what} of configuration are not loaded in sessions`;
    case "refused":
      return `${warn("not loaded")}  ${printable(reason ?? "")}`;
  }
}

function describeStorage(storage: StorageState, { dim, bad }: Style): string {
  switch (storage.state) {
    case "failed":
      return `${bad("failed")}  ${printable(storage.detail)}`;
    case "not_yet":
      return `${printable(storage.place)}  ${dim("created on first use")}`;
    case "ready":
      return `${printable(storage.place)}  ${dim(`${bytes(storage.bytes)}, schema ${storage.schema}`)}`;
  }
}
