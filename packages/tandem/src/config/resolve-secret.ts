import { MissingVariable, TandemError } from "@tandem/protocol";
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { splitCommand } from "./split-command.ts";
import type { Variables } from "./tandem-home.ts";

const LONGEST = 64 * 1024;
const COMMAND_DEADLINE_MS = 30_000;

export interface SecretContext {
  env: Variables;
  /** The base folder of `file:` and `command:`. */
  folder: string;
  signal?: AbortSignal;
  deadlineMs?: number;
}

/**
 * Reads a secret from its configured source. Errors name the source (`env:NAME`), never the value. The caller has checked that
 * the folder is trusted.
 */
export async function resolveSecret(reference: string, place: SecretContext): Promise<string> {
  const colon = reference.indexOf(":");
  const [scheme, rest] = [reference.slice(0, colon), reference.slice(colon + 1)];
  const secret = (await fetchers[scheme as keyof typeof fetchers](rest, place)).trim();
  if (secret === "") {
    const fix = `Put the secret where ${scheme}: points to.`;
    throw scheme === "env" ? missing(rest, "is empty", fix) : unavailable(reference, "is empty", fix);
  }
  return secret;
}

/**
 * For a key or token in an HTTP header. A stray line break or quote would make the HTTP client fail with a message that
 * contains the secret.
 */
export const resolveToken = (reference: string, place: SecretContext): Promise<string> =>
  resolveLine(reference, place, /^[\x21-\x7e]+$/);

/** For a complete header value such as `Bearer …`, which may contain spaces. */
export const resolveHeader = (reference: string, place: SecretContext): Promise<string> =>
  resolveLine(reference, place, /^[\x20-\x7e]+$/);

async function resolveLine(reference: string, place: SecretContext, form: RegExp): Promise<string> {
  const secret = await resolveSecret(reference, place);
  if (form.test(secret)) return secret;
  throw unavailable(reference, "is not one line of plain characters", "Store only the key there, on one line.");
}

/** Resolves the path of a `file:` reference. */
export function secretFile(path: string, { env, folder }: Pick<SecretContext, "env" | "folder">): string {
  if (path === "~" || path.startsWith("~/")) return join(env["HOME"] || homedir(), path.slice(1));
  return isAbsolute(path) ? path : resolve(folder, path);
}

const fetchers = {
  async env(name: string, { env }: SecretContext): Promise<string> {
    const value = env[name];
    if (value === undefined) throw missing(name, "is not set", `Set it in your shell: export ${name}=…`);
    return value;
  },

  async file(path: string, place: SecretContext): Promise<string> {
    const file = secretFile(path, place);
    const info = await stat(file).catch((cause: NodeJS.ErrnoException) => {
      throw unavailable(
        `file:${path}`,
        cause.code === "ENOENT" ? "does not exist" : "cannot be read",
        `Check ${file}.`,
      );
    });
    if (!info.isFile() || info.size > LONGEST) {
      throw unavailable(`file:${path}`, "is not a small file", `Check ${file}.`);
    }
    return readFile(file, "utf8").catch(() => {
      throw unavailable(`file:${path}`, "cannot be read", `Make ${file} readable: chmod 600.`);
    });
  },

  async command(line: string, place: SecretContext): Promise<string> {
    const [program, ...args] = splitCommand(line);
    return run(program!, args, place);
  },
};

/** Runs the program in its own process group, so that its children are killed with it. */
function run(program: string, args: readonly string[], place: SecretContext): Promise<string> {
  const reference = `command:${program} …`;
  const deadlineMs = place.deadlineMs ?? COMMAND_DEADLINE_MS;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, args, {
    cwd: place.folder,
    env: place.env,
    // Discard stderr: it may contain the secret.
    stdio: ["ignore", "pipe", "ignore"],
    detached: process.platform !== "win32",
  });
  const end = (failure: TandemError) => {
    kill(child.pid);
    reject(failure);
  };
  const onAbort = () => end(new TandemError("aborted", "Interrupted."));
  const timer = setTimeout(
    () =>
      end(
        unavailable(
          reference,
          `did not answer within ${deadlineMs / 1000} s`,
          "Run it in a terminal: it may wait for input.",
        ),
      ),
    deadlineMs,
  );
  place.signal?.addEventListener("abort", onAbort, { once: true });
  if (place.signal?.aborted) onAbort();

  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > LONGEST)
      end(unavailable(reference, "printed more than a secret", "Run it in a terminal to see its output."));
    else chunks.push(chunk);
  });
  child.on("error", (cause: NodeJS.ErrnoException) => {
    reject(
      unavailable(reference, cause.code === "ENOENT" ? "was not found" : "could not be started", "Check the command."),
    );
  });
  child.on("close", (code, signal) => {
    if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
    else
      reject(
        unavailable(reference, `ended with ${signal ?? `exit code ${code}`}`, "Run it in a terminal to see the error."),
      );
  });
  return promise.finally(() => {
    clearTimeout(timer);
    place.signal?.removeEventListener("abort", onAbort);
  });
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}

const missing = (name: string, what: string, fix: string) =>
  new MissingVariable(name, `The secret env:${name} ${what}.`, { fix });

const unavailable = (reference: string, what: string, fix: string) =>
  new TandemError("secret_unavailable", `The secret ${reference} ${what}.`, { fix });
