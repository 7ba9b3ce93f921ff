import { TandemError } from "@tandem/protocol";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { configKey } from "./config-keys.ts";
import { identityOf } from "./config-value.ts";
import type { ProjectPlace } from "./find-project.ts";
import type { Setting } from "./parse-config.ts";
import { ensureTandemHome, tandemHome, type Variables } from "./tandem-home.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

/**
 * A cloned folder's `tandem.yaml` was written by a stranger. What in it could run a program, read a file, or send the
 * user's credentials and prompts somewhere takes effect only once the user has trusted the folder, and only with the
 * values that were trusted: a later pull that changes one of them asks again.
 */
const trustFile = z.object({
  version: z.literal(1),
  folders: z.record(z.string(), z.object({ since: z.string(), settings: z.record(z.string(), z.string()) })),
});
type TrustFile = z.output<typeof trustFile>;

const pathOf = (env: Variables) => join(tandemHome(env), "trusted.json");

/** The settings that need trust. What has its default does nothing that an empty file would not do. */
export function riskySettings(settings: readonly Setting[]): Setting[] {
  return settings.filter(({ path, value }) => {
    const key = configKey(path);
    if (!key?.needsTrust && key?.type !== "secret") return false;
    return key.default === undefined || identityOf(value) !== identityOf(key.default);
  });
}

/** The settings that need trust and do not have it. */
export async function untrustedSettings(
  env: Variables,
  folder: string,
  settings: readonly Setting[],
): Promise<Setting[]> {
  const risky = riskySettings(settings);
  if (risky.length === 0) return [];
  const trusted = (await readTrust(env)).folders[folder]?.settings ?? {};
  return risky.filter(({ path, value }) => !Object.hasOwn(trusted, path) || trusted[path] !== identityOf(value));
}

export async function requireTrust(
  env: Variables,
  project: ProjectPlace & { settings: readonly Setting[] },
): Promise<void> {
  const untrusted = await untrustedSettings(env, project.folder, project.settings);
  if (untrusted.length > 0) throw new UntrustedError(project, untrusted);
}

class UntrustedError extends TandemError {
  readonly settings: readonly Setting[];

  constructor({ shownFile }: ProjectPlace, settings: readonly Setting[]) {
    const keys = settings.map(({ path, line }) => `${path} (line ${line})`).join(", ");
    super("untrusted_folder", `${shownFile} sets what needs your trust first: ${keys}.`, {
      fix: "Read these lines; if you stand by them, run `tandem trust`.",
    });
    this.settings = settings;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), settings: this.settings };
  }
}

/** Trusts the folder with these very settings, and no longer with others. */
export async function trustFolder(env: Variables, folder: string, settings: readonly Setting[]): Promise<void> {
  const entries = riskySettings(settings).map(({ path, value }) => [path, identityOf(value)]);
  const { folders } = await readTrust(env);
  await writeTrust(env, {
    ...folders,
    [folder]: { since: new Date().toISOString(), settings: Object.fromEntries(entries) },
  });
}

/** False if the folder was not trusted. */
export async function revokeTrust(env: Variables, folder: string): Promise<boolean> {
  const { folders } = await readTrust(env);
  const { [folder]: revoked, ...others } = folders;
  if (revoked) await writeTrust(env, others);
  return revoked !== undefined;
}

async function writeTrust(env: Variables, folders: TrustFile["folders"]): Promise<void> {
  await ensureTandemHome(env);
  await writeFileAtomically(pathOf(env), `${JSON.stringify({ version: 1, folders }, null, 2)}\n`, 0o600);
}

async function readTrust(env: Variables): Promise<TrustFile> {
  const file = pathOf(env);
  const info = await stat(file).catch(() => undefined);
  if (!info) return { version: 1, folders: {} };
  // Whoever can write this file can run programs as the user.
  if (process.platform !== "win32" && (info.mode & 0o022) !== 0) {
    throw new TandemError("trust_unreadable", `${file} can be written by others, so it is not believed.`, {
      fix: `Run chmod 600 ${file}, and check what is in it.`,
    });
  }
  try {
    return trustFile.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new TandemError("trust_unreadable", `${file} cannot be read as a list of trusted folders.`, {
      fix: "Remove it, and trust your folders again with `tandem trust`.",
      cause,
    });
  }
}
