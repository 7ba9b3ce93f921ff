import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { CredentialPlace } from "./credential-place.ts";

/** A keychain that is locked may ask a person, who may not be there. */
const DEADLINE_MS = 3_000;

/** What `security` ends with when there is no such item. */
const NOT_FOUND = 44;

/**
 * Whether the macOS keychain has what Claude Code keeps there. Asked by name and without the flags that would print or
 * unlock the secret.
 */
export async function keychainPlaces({
  platform,
  variables,
  configDir,
}: {
  platform: NodeJS.Platform;
  variables: Readonly<Record<string, string | undefined>>;
  /** Only if the user set it: names of items differ then. */
  configDir: string | undefined;
}): Promise<CredentialPlace[]> {
  const suffix = configDir
    ? `-${createHash("sha256").update(configDir.normalize("NFC")).digest("hex").slice(0, 8)}`
    : "";
  const items = [
    { name: `Claude Code-credentials${suffix}`, kind: "login" },
    { name: `Claude Code${suffix}`, kind: "api_key" },
  ] as const;
  if (platform !== "darwin") {
    const detail = "Only macOS has one.";
    return [{ id: "keychain", group: "keychain", kind: "login", state: "unavailable", readBy: "claude_code", detail }];
  }
  return Promise.all(
    items.map(async ({ name, kind }) => ({
      id: `keychain: ${name}`,
      group: "keychain" as const,
      kind,
      readBy: "claude_code" as const,
      ...(await isThere(name, variables)),
    })),
  );
}

async function isThere(
  name: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Pick<CredentialPlace, "state" | "detail">> {
  try {
    const env = { PATH: variables["PATH"], HOME: variables["HOME"] };
    await promisify(execFile)("security", ["find-generic-password", "-s", name], {
      env,
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    return { state: "found" };
  } catch (error) {
    if ((error as { code?: unknown }).code === NOT_FOUND) return { state: "absent" };
    return { state: "unreadable", detail: "The keychain did not answer." };
  }
}
