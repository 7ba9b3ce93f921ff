import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import type { HookConfig } from "@tandem/protocol";

interface PinnedFile {
  path: string;
  /** Null: the file did not exist. */
  sha256: string | null;
}

/** A hook with its files as they were when the config was read. */
export interface PinnedHook extends HookConfig {
  files?: readonly PinnedFile[];
}

export interface HookSettings {
  hooks?: readonly PinnedHook[];
}

/**
 * Hooks run on the host, in folders that agents can write. So a path in a hook's command means the project's own file, never a
 * copy in the session's folder, and the file must not change.
 */
export function pinHooks(hooks: readonly HookConfig[], folder: string): PinnedHook[] {
  return hooks.map((hook) => {
    const files: PinnedFile[] = [];
    const command = hook.command?.map((word, index) => {
      const [, option = "", value = ""] = /^(-[^=]*=)?([^]*)$/.exec(word) ?? [];
      // A bare name is looked up in the host's PATH.
      const isProgram = index === 0 && /[/\\]/.test(word);
      const path = resolve(folder, value);
      const sha256 = value === "" || (index === 0 && !isProgram) ? null : hashOf(() => readFileSync(path));
      if (sha256 === null && !isProgram) return word;
      if (!isAbsolute(value) || path.startsWith(join(folder, sep))) files.push({ path, sha256 });
      return option + path;
    });
    return { ...hook, ...(command && { command }), ...(files.length > 0 && { files }) };
  });
}

/** Throws if a file of a hook has changed. */
export async function checkPinned({ files = [] }: PinnedHook): Promise<void> {
  for (const { path, sha256 } of files) {
    const content = await readFile(path).catch(() => undefined);
    if (hashOf(() => content) === sha256) continue;
    throw new Error(
      sha256 === null
        ? `${path} was not there when Tandem started`
        : `${path} has changed since Tandem started; review it, and restart Tandem if the change was intended`,
    );
  }
}

function hashOf(read: () => Buffer | undefined): string | null {
  try {
    const content = read();
    return content ? createHash("sha256").update(content).digest("hex") : null;
  } catch {
    // A folder, or missing.
    return null;
  }
}
