import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { RequestError, type SandboxState } from "@tandem/protocol";
import type { SandboxSettings } from "./sandbox-settings.ts";

const PROBE_MS = 5_000;
const MAC = "/usr/bin/sandbox-exec";

export type Sandbox = { on: true; domains: readonly string[] } | { on: false; reason: string };

/** Why shell commands cannot run in a sandbox on this machine; undefined if a test run succeeded. */
export async function whyNoSandbox(
  variables: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (process.platform === "darwin") return (await isProgram(MAC)) ? undefined : `${MAC} is missing`;
  if (process.platform !== "linux") return `there is none for ${process.platform}`;
  const path = (variables["PATH"] ?? "").split(delimiter);
  const found = await Promise.all(["bwrap", "socat"].map((name) => find(name, path)));
  const missing = ["bubblewrap", "socat"].filter((_, index) => found[index] === undefined);
  if (missing.length > 0) return `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not installed`;
  try {
    // A container or kernel may forbid it, which only a test run shows.
    const args = ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-net", "--unshare-pid", "true"];
    await promisify(execFile)(found[0]!, args, { timeout: PROBE_MS, env: { PATH: variables["PATH"] ?? "" } });
    return undefined;
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    return `bubblewrap does not work here${said ? ` (${said})` : ""}`;
  }
}

/** Decides whether shell commands are sandboxed. Rejects if a sandbox is required and unavailable. */
export async function sandboxFor(
  { mode, hosts = [] }: SandboxSettings,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Sandbox> {
  if (mode === "off") return { on: false, reason: "sandbox.mode is off" };
  const reason = await whyNoSandbox(variables);
  if (reason === undefined) return { on: true, domains: hosts };
  if (mode === "auto") return { on: false, reason };
  throw new RequestError("unavailable", `Shell commands must run in a sandbox here, and there is none: ${reason}.`, {
    fix: "Install bubblewrap and socat, or set sandbox.mode to auto or off.",
  });
}

/** Whether sessions of these settings run in a sandbox. */
export async function sandboxState(
  settings: SandboxSettings = { mode: "off" },
  variables: Readonly<Record<string, string | undefined>>,
): Promise<SandboxState> {
  const choice = await sandboxFor(
    { ...settings, mode: settings.mode === "require" ? "auto" : settings.mode },
    variables,
  );
  if (choice.on) return { on: true };
  return { on: false, reason: choice.reason, fix: "Set sandbox.mode to auto in tandem.yaml." };
}

async function find(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) if (folder && (await isProgram(join(folder, name)))) return join(folder, name);
  return undefined;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
