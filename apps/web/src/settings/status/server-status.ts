import type { Tone } from "../panel.tsx";

export interface AuthState {
  state: string;
  detail: string;
  fix: string;
  account?: { kind: string; plan?: string; email?: string; organization?: string };
}

/** The response of `/v1/status`. */
export interface ServerStatus {
  version: string;
  node: string;
  demo: boolean;
  started_at: string;
  roots: string[];
  file: string | null;
  backend: string;
  payer: string;
  credential: string | null;
  auth: AuthState;
  models: { role: string; model: string; falls_back: boolean }[];
  ignored: { key: string; why: string }[];
  sessions: {
    payer: string;
    auth: AuthState;
    sandbox: { on: boolean; reason?: string; fix?: string; warning?: string; details?: string[] };
    trust: { folder: string; state: string; files: string[] };
  };
  storage:
    | { state: "ready"; engine: string; place: string; schema: number; bytes: number }
    | { state: "not_yet"; engine: string; place: string }
    | { state: "failed"; detail: string; fix: string };
}

export interface Finding {
  name: string;
  result: "ok" | "warning" | "failure";
  detail: string;
  fix?: string;
}

export const PAYERS: Readonly<Record<string, string>> = {
  nobody: "No one (demo)",
  claude_login: "Claude login on this machine",
  claude_oauth_token: "Claude OAuth token",
  anthropic_api_key: "Anthropic API key",
  google_cloud_project: "Google Cloud project",
  gateway_key: "Gateway key",
};

const TONES: Readonly<Record<string, Tone>> = { usable: "good", found: "plain", unverified: "wait" };

export const toneOf = (state: string): Tone => TONES[state] ?? "bad";

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

export function bytes(size: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3));
  const value = size / 1_000 ** step;
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: value < 10 && step > 0 ? 1 : 0 }).format(value)} ${UNITS[step]}`;
}
