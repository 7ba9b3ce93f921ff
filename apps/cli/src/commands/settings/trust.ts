import { TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import {
  findProject,
  type Project,
  revokeTrust,
  riskySettings,
  formatValue,
  trustFolder,
  untrustedSettings,
} from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { recordAudit } from "../../record-audit.ts";
import { openProject, openProjectOrDefaults } from "@tandem/tandem/project";
import { printable, styleFor, table, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .option("--folder [path]", "trust the settings, hooks, MCP servers and skills of a folder (default: this folder)")
      .option("--revoke", "revoke the trust")
      .option("--list", "list the trusted folders")
      .addOption(json())
      .action(runner(trust)),
    "tandem trust",
    "tandem trust --folder ~/src/shop",
    "tandem trust --list",
    "tandem trust --folder --revoke",
  );
}

export interface TrustOptions {
  /** True without a path: the current folder. */
  folder?: string | true;
  list?: boolean;
  revoke?: boolean;
}

export async function trust(invocation: Invocation, { folder, list, revoke = false }: TrustOptions): Promise<void> {
  if (list || folder !== undefined) {
    const { listTrusted, trustFolder: trustForSessions } = await import("../../trust/trust-folder.ts");
    if (list) return listTrusted(invocation);
    return trustForSessions(invocation, { ...(typeof folder === "string" && { path: folder }), revoke });
  }
  if (revoke) {
    const place = findProject(invocation.cwd, invocation.project);
    if (!place) throw new TandemError("config_missing", "There is no tandem.yaml in this folder or a parent folder.");
    const revoked = await revokeTrust(invocation.env, place.folder);
    if (revoked)
      await recordAudit(invocation, { kind: "trust.revoked", details: { folder: place.folder, of: "config" } });
    await writeResult(invocation, { folder: place.folder, trusted: false }, [
      revoked ? `${place.folder} is no longer trusted.` : `${place.folder} was not trusted.`,
    ]);
    return;
  }
  const project = await openTrusted(invocation);
  const risky = riskySettings(project.settings);
  const untrusted = await untrustedSettings(invocation.env, project.folder, project.settings);
  await trustFolder(invocation.env, project.folder, project.settings);
  const settings = risky.map(({ path, value }) => ({ path, value: formatValue(value) }));
  const gone = untrusted.flatMap(({ path, line }) => (line === null ? [path] : []));
  const details = { folder: project.folder, of: "config", settings, ...(gone.length > 0 && { gone }) };
  await recordAudit(invocation, { kind: "trust.given", details });
  const { dim, warn } = styleFor(invocation.stdout);
  const rows = risky.map((setting) => [
    `  ${untrusted.some(({ path }) => path === setting.path) ? warn(setting.path) : setting.path}`,
    printable(formatValue(setting.value)),
    dim(`line ${setting.line}`),
  ]);
  await writeResult(invocation, { folder: project.folder, trusted: true, settings: risky, gone }, [
    `${project.folder} is trusted${risky.length > 0 ? " with" : "; nothing in its tandem.yaml needs it yet."}`,
    ...table(rows),
    ...(gone.length > 0 ? [`${warn("No longer set:")} ${gone.join(", ")}`] : []),
    ...(risky.length > 0 ? [dim("A change to one of these lines needs your trust again.")] : []),
  ]);
}

/** Also opens a trusted folder whose tandem.yaml was deleted, so that its trust can be changed. */
async function openTrusted(invocation: Invocation): Promise<Project> {
  const project = await openProjectOrDefaults(invocation);
  if (existsSync(project.file)) return project;
  const gone = await untrustedSettings(invocation.env, project.folder, []);
  return gone.length > 0 ? project : openProject(invocation);
}
