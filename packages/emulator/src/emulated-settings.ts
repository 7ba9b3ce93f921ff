import { join } from "node:path";
import { findExecutable, ProcessLedger } from "@tandem/claude-code/processes";
import type { Rehearsal } from "@tandem/rehearsal";
import type { EngineSettings, MovableClock } from "@tandem/sessions";

/** The key that the scripted model accepts. */
export const KEY = "sk-ant-emulated";

/** Sessions of a killed server are continued after this time. */
const LEASE_MS = 1_000;
const DEADLINE_MS = 60_000;

interface EmulatedEngine {
  /** Holds the store and the state of all servers of an emulator. */
  root: string;
  folder: string;
  model: Rehearsal;
  clock: MovableClock;
  claudeCode: boolean;
  openConversation: EngineSettings["openConversation"];
}

/** The settings of an engine that reaches nothing but the scripted model and its own folders. */
export function emulatedSettings(parts: EmulatedEngine): EngineSettings {
  const { root, folder, model, clock, claudeCode, openConversation } = parts;
  const stateFolder = join(root, "state");
  const ledger = new ProcessLedger(join(stateFolder, "processes"));
  return {
    executable: claudeCode ? findExecutable(undefined) : "",
    openConversation,
    credential: async () => ({ type: "api_key", key: KEY, baseUrl: model.url }),
    hostVariables: { PATH: process.env["PATH"] ?? "", HOME: join(root, "home"), NO_PROXY: "127.0.0.1" },
    stateFolder,
    deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: 2_000 },
    idle: DEADLINE_MS,
    recovery: "resume",
    leaseTtl: LEASE_MS,
    holder: `emulator (pid ${process.pid})`,
    mcpTimeout: 10_000,
    roots: [folder],
    models: async () => MODELS,
    sweep: () => ledger.sweep(),
    clock,
    sandbox: { mode: claudeCode ? "auto" : "off" },
    ...(claudeCode && { checkpoints: CHECKPOINTS }),
    anthropicSkills: "leave_out",
    toolsetDefault: "always_allow",
    log: { warn: () => undefined },
  };
}

export const CHECKPOINTS = {
  maxFiles: 20_000,
  maxFileBytes: 16 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  keepMs: 24 * 60 * 60 * 1_000,
};

const MODELS = [
  { id: "claude-opus-5-5", name: "Opus 5.5", aliases: ["opus"] },
  { id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] },
  { id: "claude-haiku-5-5", name: "Haiku 5.5", aliases: ["haiku"] },
];
