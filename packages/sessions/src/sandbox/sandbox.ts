import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { RequestError, type SandboxState } from "@tandem/protocol";
import type { WallOn } from "@tandem/sandbox";
import type { SandboxSettings } from "./sandbox-settings.ts";

const MAC = "/usr/bin/sandbox-exec";

export type SandboxChoice =
  | { on: true; covers: "process"; wall: WallOn }
  /** macOS: Claude Code's own sandbox for shell commands. Untested. */
  | { on: true; covers: "commands"; domains: readonly string[] }
  | { on: false; reason: string; fix?: string };

/** Decides whether a session's process is sandboxed. Rejects if a sandbox is required and unavailable. */
export async function sandboxFor(
  { mode, hosts = [], user }: SandboxSettings,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<SandboxChoice> {
  if (mode === "off") return { on: false, reason: "sandbox.mode is off" };
  if (process.platform === "darwin" && (await isProgram(MAC))) return { on: true, covers: "commands", domains: hosts };
  const { probeWall } = await import("@tandem/sandbox");
  const wall = await probeWall(variables, user);
  if (wall.on) return { on: true, covers: "process", wall };
  const { reason, fix } = wall;
  if (mode === "auto") return { on: false, reason, fix };
  throw new RequestError("unavailable", `Sessions must run in a sandbox here, and there is none: ${reason}`, {
    fix: `${fix} Or set sandbox.mode to auto or off.`,
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
  return { on: false, reason: choice.reason, fix: choice.fix ?? "Set sandbox.mode to auto in tandem.yaml." };
}

/** Why sessions cannot run in a sandbox on this machine; undefined if a test run succeeded. */
export async function whyNoSandbox(
  variables: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const choice = await sandboxFor({ mode: "auto" }, variables);
  return choice.on ? undefined : choice.reason;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
