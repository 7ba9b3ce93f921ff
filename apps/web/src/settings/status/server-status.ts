import type { Tone } from "../panel.tsx";

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
