import { TandemError } from "@tandem/protocol";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { folderTrust, revokeFolder, trustedFolders, trustFolderAs } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { recordAudit } from "../record-audit.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { trustSettings } from "@tandem/tandem/engine";
import { ago } from "../human-units.ts";
import { printable, styleFor, table, writeResult } from "../terminal.ts";

const SHOWN_FILES = 40;

/** Trusts a folder's settings, hooks, MCP servers and skills for sessions. */
export async function trustFolder(
  invocation: Invocation,
  { path = ".", revoke = false }: { path?: string; revoke?: boolean },
): Promise<void> {
  const asked = resolve(invocation.cwd, path);
  const folder = existsSync(asked) ? realpathSync(asked) : asked;
  if (revoke) {
    const revoked = await revokeFolder(invocation.env, folder);
    if (revoked) await recordAudit(invocation, { kind: "trust.revoked", details: { folder, of: "sessions" } });
    return writeResult(invocation, { folder, state: "untrusted" }, [
      revoked ? `${folder} is no longer trusted.` : `${folder} was not trusted.`,
    ]);
  }
  if (!existsSync(folder)) throw new TandemError("usage", `There is no folder ${folder}.`);
  const project = await openProjectOrDefaults(invocation);
  const before = await folderTrust(invocation.env, folder, trustSettings(project));
  if (before.state === "refused") {
    throw new TandemError("usage", before.reason ?? "The folder cannot be trusted.", {
      fix: "Remove the named settings, or set sessions.settings to trusted.",
    });
  }
  await trustFolderAs(invocation.env, { ...before, folder });
  const identity = before.config?.identity;
  await recordAudit(invocation, { kind: "trust.given", details: { folder, of: "sessions", identity } });
  const files = before.config?.files ?? [];
  const hasFiles = files.length > 0;
  const isOff = !hasFiles && project.config.sessions.settings === "none";
  const { dim, warn } = styleFor(invocation.stdout);
  const heading = {
    trusted: hasFiles ? "is already trusted with" : "is already trusted.",
    changed: "is trusted again with",
    untrusted: "is trusted with",
    empty: isOff ? "has nothing that needs trust." : "is trusted.",
  }[before.state];
  await writeResult(invocation, { folder, state: isOff ? "empty" : "trusted", files }, [
    `${folder} ${heading}`,
    ...files.slice(0, SHOWN_FILES).map((file) => `  ${before.state === "trusted" ? file : warn(printable(file))}`),
    ...(files.length > SHOWN_FILES ? [dim(`  … and ${files.length - SHOWN_FILES} more`)] : []),
    ...(hasFiles
      ? [dim("Its hooks, MCP servers, variables and skills take effect in sessions. Billing stays as configured.")]
      : []),
    ...(hasFiles || isOff
      ? []
      : [dim("It has no settings, hooks or MCP servers. Sessions can use language servers in it.")]),
    ...(hasFiles ? [dim("A change to one of these files needs your trust again.")] : []),
  ]);
}

export async function listTrusted(invocation: Invocation): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  const settings = trustSettings(project);
  const entries = Object.entries(await trustedFolders(invocation.env));
  const rows = await Promise.all(
    [...new Set([...settings.always, ...entries.map(([folder]) => folder)])].map(async (folder) => {
      const { state, since } = existsSync(folder)
        ? await folderTrust(invocation.env, folder, settings)
        : { state: "gone" as const, since: null };
      return { folder, state, since, by: settings.always.includes(folder) ? "config" : "user" };
    }),
  );
  const { dim, good, warn } = styleFor(invocation.stdout);
  const shown = rows.map(({ folder, state, since, by }) => [
    printable(folder),
    state === "trusted" ? good(state) : warn(state),
    dim(since ? ago(since) : by === "config" ? "by sessions.trustedFolders" : ""),
  ]);
  await writeResult(invocation, { folders: rows }, rows.length > 0 ? table(shown) : ["No folder is trusted."]);
}
