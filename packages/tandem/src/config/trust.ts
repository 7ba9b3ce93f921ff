import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import { configKey } from "./parse/config-keys.ts";
import { identityOf } from "./parse/config-value.ts";
import type { ProjectLocation } from "./find-project.ts";
import type { Setting } from "./parse/parse-config.ts";
import type { Variables } from "./tandem-home.ts";
import { TrustFile } from "./trust-file.ts";

/**
 * The `tandem.yaml` of a cloned folder is untrusted input. Settings that decide who pays, which changes a person reviews,
 * which programs run, or where data goes take effect only after the user trusts the folder. Trust covers the exact values: a changed value must
 * be trusted again. So must the removal of a trusted rule, hook, budget or sandbox, because it weakens protection.
 */
const file = new TrustFile("trusted.json", z.object({ since: z.string(), settings: z.record(z.string(), z.string()) }));

/** The settings that need trust. A setting at its default is harmless. */
export function riskySettings(settings: readonly Setting[]): Setting[] {
  return settings.filter(({ path, value }) => {
    const key = configKey(path);
    // Fails closed: a setting without a mark needs trust.
    if (key?.harmless !== undefined) return false;
    if (typeof value === "string" && key?.harmlessValues.includes(value)) return false;
    return key?.default === undefined || identityOf(value) !== identityOf(key.default);
  });
}

/** A setting that is not trusted. Nulls mark a trusted setting that was removed or reset to its default. */
export type Untrusted = Setting | { path: string; value: null; line: null };

export async function untrustedSettings(
  env: Variables,
  folder: string,
  settings: readonly Setting[],
): Promise<Untrusted[]> {
  const risky = riskySettings(settings);
  const known = await file.read(env);
  const trusted = (Object.hasOwn(known, folder) ? known[folder]?.settings : undefined) ?? {};
  const there = new Set(risky.map(({ path }) => path));
  return [
    ...risky.filter(({ path, value }) => !Object.hasOwn(trusted, path) || trusted[path] !== identityOf(value)),
    ...Object.keys(trusted)
      .filter((path) => !there.has(path))
      .map((path) => ({ path, value: null, line: null })),
  ];
}

/** Describes added and removed settings for display. */
export function describeUntrusted(untrusted: readonly Untrusted[]): { set: string; gone: string } {
  const set = untrusted.flatMap(({ path, line }) => (line === null ? [] : [`${path} (line ${line})`]));
  const gone = untrusted.flatMap(({ path, line }) => (line === null ? [path] : []));
  return { set: set.join(", "), gone: gone.join(", ") };
}

export async function requireTrust(
  env: Variables,
  project: ProjectLocation & { settings: readonly Setting[] },
): Promise<void> {
  const untrusted = await untrustedSettings(env, project.folder, project.settings);
  if (untrusted.length > 0) throw new UntrustedError(project, untrusted);
}

class UntrustedError extends TandemError {
  readonly settings: readonly Untrusted[];

  constructor({ displayPath }: ProjectLocation, settings: readonly Untrusted[]) {
    const { set, gone } = describeUntrusted(settings);
    const sentences = [
      ...(set ? [`${displayPath} has settings that need your trust: ${set}.`] : []),
      ...(gone ? [`${displayPath} no longer has settings that you trusted: ${gone}.`] : []),
    ];
    super("untrusted_folder", sentences.join(" "), {
      fix: gone
        ? "Restore the missing settings, or run `tandem trust` to accept the file."
        : "Review these lines, then run `tandem trust` to accept them.",
    });
    this.settings = settings;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), settings: this.settings };
  }
}

/** Trusts exactly these settings and replaces earlier trust. */
export async function trustFolder(env: Variables, folder: string, settings: readonly Setting[]): Promise<void> {
  const entries = riskySettings(settings).map(({ path, value }) => [path, identityOf(value)]);
  await file.write(env, {
    ...(await file.read(env)),
    [folder]: { since: new Date().toISOString(), settings: Object.fromEntries(entries) },
  });
}

/** Returns false if the folder was not trusted. */
export const revokeTrust = (env: Variables, folder: string): Promise<boolean> => file.remove(env, folder);
