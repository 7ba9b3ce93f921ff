import { join } from "node:path";
import { z } from "zod";
import type { CredentialPlace, Found, LoginDetails } from "./credential-place.ts";
import { brokenNotices, filled, type JsonFile, opennessNotices, readJsonFile } from "./read-json-file.ts";

/** Without it Claude Code does not use a login for requests. */
const NEEDED_SCOPE = "user:inference";

const login = z.looseObject({
  claudeAiOauth: z.looseObject({
    accessToken: z.unknown().optional(),
    refreshToken: z.unknown().optional(),
    expiresAt: z.unknown().optional(),
    scopes: z.unknown().optional(),
    subscriptionType: z.unknown().optional(),
  }),
});

/** The login that Claude Code keeps in a file, and the one that some containers mount, which it does not read. */
export async function loginFiles({ configDir, home }: { configDir: string; home: string }): Promise<Found> {
  const [own, mounted] = await Promise.all([
    readJsonFile(join(configDir, ".credentials.json")),
    readJsonFile(join(home, ".claude-oauth-credentials.json")),
  ]);
  const found = asPlace(own, "claude_code");
  const other = asPlace(mounted, "nobody");
  return {
    places: [found.place, other.place],
    notices: [...found.notices, ...other.notices],
  };
}

function asPlace(
  file: JsonFile,
  readBy: CredentialPlace["readBy"],
): { place: CredentialPlace; notices: Found["notices"] } {
  const base = { id: file.path, group: "login", kind: "login", readBy } as const;
  if (file.state !== "found") {
    return {
      place: { ...base, state: file.state, ...(file.detail && { detail: file.detail }) },
      notices: brokenNotices(file),
    };
  }
  const parsed = login.safeParse(file.content).data?.claudeAiOauth;
  if (!parsed || (!filled(parsed.accessToken) && !filled(parsed.refreshToken))) {
    const detail = parsed ? "Its tokens are empty: Claude Code has logged out, or its renewal was refused." : undefined;
    return { place: { ...base, state: "absent", ...(detail && { detail }) }, notices: [] };
  }
  const details = describe(parsed);
  const notices = opennessNotices(file);
  if (readBy === "claude_code" && typeof parsed.expiresAt === "string") {
    notices.push({
      about: file.path,
      text: "Its expiry is written as text, which Claude Code does not heed: it will not renew this login in time.",
      fix: "Log in again with the Claude Code CLI (`claude`, then /login).",
    });
  }
  return { place: { ...base, state: "found", login: details }, notices };
}

/** Whether Claude Code takes this login for requests. */
export const isUsable = ({ state, login: details }: CredentialPlace): boolean =>
  state === "found" && details !== undefined && details.scopes.includes(NEEDED_SCOPE);

// Closed lists: whatever else stands in these fields might be anything, a token too.
const PLANS = new Set(["free", "pro", "max", "team", "enterprise"]);
const SCOPES = new Set([
  ...["user:inference", "user:profile", "user:sessions:claude_code", "user:mcp_servers", "user:file_upload"],
  ...["org:create_api_key", "org:profile"],
]);

function describe(parsed: z.infer<typeof login>["claudeAiOauth"], now = Date.now()): LoginDetails {
  const expiresAt = readExpiry(parsed.expiresAt);
  const scopes = Array.isArray(parsed.scopes) ? parsed.scopes : [];
  const plan = parsed.subscriptionType;
  return {
    ...(expiresAt && { expiresAt }),
    expired: expiresAt !== undefined && expiresAt.getTime() <= now,
    renewable: filled(parsed.refreshToken),
    ...(typeof plan === "string" && PLANS.has(plan) && { plan }),
    scopes: scopes.filter((scope): scope is string => typeof scope === "string" && SCOPES.has(scope)),
  };
}

/** Seconds since 1970 stay below this for three thousand years, and milliseconds have been above it since 1973. */
const FIRST_AS_MILLISECONDS = 1e11;

/** A time as milliseconds or seconds since 1970, as a number or in digits, or as RFC 3339 has it. */
export function readExpiry(value: unknown): Date | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number") {
    const time = new Date(Math.abs(number) < FIRST_AS_MILLISECONDS ? number * 1_000 : number);
    return Number.isNaN(time.getTime()) ? undefined : time;
  }
  if (typeof number !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(number)) return undefined;
  const time = new Date(number);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
