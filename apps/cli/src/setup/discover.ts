import type { LoginProbe } from "@tandem/claude-code";
import { configSettings, parseConfig, type ProjectLocation } from "@tandem/tandem/config";
import { probeLogin } from "@tandem/tandem/compose";
import type { Invocation } from "../invocation.ts";

const DEADLINE_MS = 10_000;

/** Credentials found on this machine, not tested. Keys are listed by name only. */
export interface Discovery {
  login: LoginProbe;
  /** Names of set variables that a backend reads by default. */
  variables: string[];
}

export async function discover(invocation: Invocation, place: ProjectLocation): Promise<Discovery> {
  const names = configSettings().flatMap(({ type, default: place }) =>
    type === "secret" && typeof place === "string" ? [place.replace(/^env:/, "")] : [],
  );
  names.push("GOOGLE_APPLICATION_CREDENTIALS");
  const untouched = { ...place, ...parseConfig("", place.displayPath) };
  return {
    login: await probeLogin(invocation, untouched, DEADLINE_MS),
    variables: [...new Set(names)].filter((name) => invocation.env[name]),
  };
}
