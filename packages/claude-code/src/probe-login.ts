import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { promisify } from "node:util";
import { z } from "zod";
import { readExpiry } from "./credentials/read-expiry.ts";
import { keepLoginStatus } from "./login-cache.ts";
import { childVariables, overridingVariables } from "./variables.ts";

const API = "https://api.anthropic.com/";

export interface LoginProbe {
  /** `unreachable`: there is a login, but the API does not answer. */
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
 * Looks for a Claude Code login on this machine, without a model call and without refreshing a token. Only a call shows
 * whether the service accepts it. Claude Code erases a stored login if its refresh is rejected, so a check must not trigger one. Rejects only by `signal`; a
 * timeout counts as absent.
 */
export async function probeLogin(options: {
  hostVariables: Readonly<Record<string, string | undefined>>;
  executable: string;
  deadlineMs: number;
  signal?: AbortSignal;
  /** Where the last answer of Claude Code is kept. */
  cacheFile?: string;
}): Promise<LoginProbe> {
  const variables = childVariables(
    options.hostVariables,
    { type: "login" },
    options.hostVariables["CLAUDE_CONFIG_DIR"],
  );
  const deadline = AbortSignal.timeout(options.deadlineMs);
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  const [status, stored, unreachable] = await Promise.all([
    keepLoginStatus(
      options.cacheFile,
      { executable: options.executable, variables },
      () => readStatus(options.executable, variables, signal),
      (status): status is AuthStatus => authStatus.safeParse(status).success,
    ),
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

/** An address without a listener. */
const UNREACHABLE_ADDRESS = "http://127.0.0.1:1";

/**
 * Runs `claude auth status`; returns its output or the reason for its failure. It exits with 1 when logged out. With a
 * network it would refresh an expired token and fetch the profile, so it gets none.
 */
async function readStatus(
  executable: string,
  variables: Record<string, string>,
  signal: AbortSignal,
): Promise<AuthStatus | string> {
  let output: string;
  try {
    const login = { type: "login" } as const;
    const nowhere = {
      HTTPS_PROXY: UNREACHABLE_ADDRESS,
      https_proxy: UNREACHABLE_ADDRESS,
      HTTP_PROXY: UNREACHABLE_ADDRESS,
      http_proxy: UNREACHABLE_ADDRESS,
    };
    const silenced = { ...nowhere, NO_PROXY: "", no_proxy: "" };
    // Settings files could set another proxy or key. None are read, and these overrides are a second safeguard.
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

/** Only the file; on macOS the login is in the keychain, which is not read. */
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

/** When the login expired. A refreshable access token does not count: the next call refreshes it. */
function expiry(status: AuthStatus, stored: z.infer<typeof storedLogin> | undefined): Date | undefined {
  const token = stored?.claudeAiOauth;
  // Zero is a valid time in the past.
  return [token?.refreshToken ? undefined : token?.expiresAt, status.loginExpiresAt]
    .flatMap((end) => readExpiry(end) ?? [])
    .find((end) => end.getTime() < Date.now());
}

/** Any response will do; no credential is sent. */
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
      // A request that waits for a proxy ignores its signal, but the proxy's connection obeys the timeout.
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
