import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { promisify } from "node:util";
import { z } from "zod";
import { readExpiry } from "./credentials/read-expiry.ts";
import { childVariables, overridingVariables } from "./variables.ts";

const API = "https://api.anthropic.com/";

export interface LoginProbe {
  /** `unreachable`: there is a login, but the API does not answer from here. */
  state: "logged_in" | "logged_out" | "expired" | "unreachable";
  /** One sentence for people. */
  detail: string;
  /** Only with a login. */
  account?: { kind: "subscription" | "console"; plan?: string; email?: string; organization?: string };
}

const authStatus = z.object({
  loggedIn: z.boolean(),
  authMethod: z.string(),
  apiKeySource: z.string().nullish(),
  email: z.string().nullish(),
  orgName: z.string().nullish(),
  subscriptionType: z.string().nullish(),
  loginExpiresAt: z.union([z.string(), z.number()]).nullish(),
});

const storedLogin = z.object({
  claudeAiOauth: z.object({ expiresAt: z.unknown().optional(), refreshToken: z.string().nullish() }),
});

/**
 * Asks whether the local Claude Code login can be used, without a model call and without renewing a token: Claude Code
 * blanks a stored login whose renewal is refused, so a mere look must not provoke one. Never rejects but for `signal`;
 * what does not answer in time counts as not there.
 */
export async function probeLogin(options: {
  hostVariables: Readonly<Record<string, string | undefined>>;
  executable: string;
  deadlineMs: number;
  signal?: AbortSignal;
}): Promise<LoginProbe> {
  const variables = childVariables(
    options.hostVariables,
    { type: "login" },
    options.hostVariables["CLAUDE_CONFIG_DIR"],
  );
  const deadline = AbortSignal.timeout(options.deadlineMs);
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  const [status, stored, unreachable] = await Promise.all([
    readStatus(options.executable, variables, signal),
    readStored(variables),
    whyUnreachable(variables, options.deadlineMs, signal),
  ]);
  options.signal?.throwIfAborted();
  if (typeof status === "string") return { state: "logged_out", detail: status };
  const kind = accountKind(status);
  if (!kind) return { state: "logged_out", detail: "Claude Code has no login on this machine." };
  const account = {
    kind,
    ...(status.subscriptionType && { plan: status.subscriptionType }),
    ...(status.email && { email: status.email }),
    ...(status.orgName && { organization: status.orgName }),
  };
  const ended = expiry(status, stored);
  if (ended) return { state: "expired", detail: `The Claude Code login expired on ${ended.toISOString()}.`, account };
  if (unreachable)
    return { state: "unreachable", detail: `There is a login, but ${API} cannot be reached: ${unreachable}`, account };
  const who = account.email ? ` as ${account.email}` : "";
  const plan =
    kind === "console" ? "a Console account, billed per token" : `a ${account.plan ?? "claude.ai"} subscription`;
  return { state: "logged_in", detail: `Logged in${who} with ${plan}.`, account };
}

type AuthStatus = z.infer<typeof authStatus>;

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1";

/**
 * What Claude Code says of itself, or why it says nothing. It exits with 1 when it is logged out. Given a network it would
 * renew a token that has run out and ask for the account's profile; so it gets none.
 */
async function readStatus(
  executable: string,
  variables: Record<string, string>,
  signal: AbortSignal,
): Promise<AuthStatus | string> {
  let output: string;
  try {
    const login = { type: "login" } as const;
    const nowhere = { HTTPS_PROXY: NOWHERE, https_proxy: NOWHERE, HTTP_PROXY: NOWHERE, http_proxy: NOWHERE };
    const silenced = { ...nowhere, NO_PROXY: "", no_proxy: "" };
    // Settings files could name another proxy, or a key: none are read, and what overrides them says so once more.
    const settings = JSON.stringify({
      apiKeyHelper: "",
      env: { ...overridingVariables(variables, login), ...silenced },
    });
    const args = ["--setting-sources", "", "--settings", settings, "auth", "status", "--json"];
    const options = { env: { ...variables, ...silenced }, cwd: tmpdir(), signal, killSignal: "SIGKILL" } as const;
    ({ stdout: output } = await promisify(execFile)(executable, args, options));
  } catch (error) {
    const failure = error as { stdout?: string; message: string; name: string };
    if (!failure.stdout) {
      return failure.name === "AbortError"
        ? "Claude Code did not say in time whether it is logged in."
        : `Claude Code could not be asked: ${failure.message.split("\n")[0]}`;
    }
    output = failure.stdout;
  }
  try {
    return authStatus.parse(JSON.parse(output));
  } catch {
    return "Claude Code's answer about its login could not be read; its version may be too old or too new.";
  }
}

/** Only what it keeps in a file; on macOS the keychain has it, and is left alone. */
async function readStored(variables: Record<string, string>): Promise<z.infer<typeof storedLogin> | undefined> {
  const folder = variables["CLAUDE_CONFIG_DIR"] ?? join(variables["HOME"] ?? "", ".claude");
  try {
    return storedLogin.parse(JSON.parse(await readFile(join(folder, ".credentials.json"), "utf8")));
  } catch {
    return undefined;
  }
}

function accountKind(status: AuthStatus): "subscription" | "console" | undefined {
  if (!status.loggedIn) return undefined;
  if (status.authMethod === "claude.ai") return "subscription";
  return status.apiKeySource === "/login managed key" ? "console" : undefined;
}

/** When a login ended for good. An access token that has run out is renewed by the next call if it can be. */
function expiry(status: AuthStatus, stored: z.infer<typeof storedLogin> | undefined): Date | undefined {
  const token = stored?.claudeAiOauth;
  // Zero is a time, too: long ago.
  return [token?.refreshToken ? undefined : token?.expiresAt, status.loginExpiresAt]
    .flatMap((end) => readExpiry(end) ?? [])
    .find((end) => end.getTime() < Date.now());
}

/** Any answer will do, and no credential is sent. */
async function whyUnreachable(
  variables: Record<string, string>,
  timeout: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const extra = variables["NODE_EXTRA_CA_CERTS"];
    const ca = [...getCACertificates("default"), ...(extra ? [await readFile(extra, "utf8")] : [])];
    const agent = new Agent({ proxyEnv: variables, ca });
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      // A request that still waits for a proxy does not heed its signal, but the proxy's connection heeds the timeout.
      signal.addEventListener("abort", reject, { once: true });
      request(API, { method: "HEAD", agent, signal, timeout }, (response) => {
        response.resume();
        resolve();
      })
        .on("error", reject)
        .end();
    }).finally(() => agent.destroy());
    return undefined;
  } catch (error) {
    if (signal.aborted) return "no answer in time";
    return error instanceof Error ? error.message : String(error);
  }
}
