import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TandemError } from "@tandem/protocol";

const PATH = "/callback";
const DEADLINE_MS = 10 * 60_000;

/** The parameters with which an authorization server redirects the browser. */
interface ReceivedCode {
  code: string;
  state: string;
  iss?: string;
}

export interface CodeReceiver extends AsyncDisposable {
  redirectUri: string;
  /** Resolves when the browser comes back with this state. Rejects if the person refuses, and after ten minutes. */
  receive(state: string, signal: AbortSignal): Promise<ReceivedCode>;
}

/** Listens on loopback for the browser. `port`: 0 for any that is free. */
export async function openCodeReceiver(port: number): Promise<CodeReceiver> {
  let expected: string | undefined;
  const received = Promise.withResolvers<ReceivedCode>();
  // Without this, a code that arrives before the first `await` would be an unhandled rejection.
  received.promise.catch(() => {});
  const server = createServer((request, response) => {
    // Any page can request any path here, also `//`, which is not a URL.
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
    const query = url?.searchParams ?? new URLSearchParams();
    const isOurs = url?.pathname === PATH && request.method === "GET" && isOwnHost(request, server.address());
    // Another page must not end this login.
    if (!isOurs || expected === undefined || query.get("state") !== expected) return answer(response, 404, NOT_OURS);
    const error = query.get("error");
    const code = query.get("code");
    if (error !== null || !code) {
      answer(response, 400, "The login was refused. You can close this page.");
      return received.reject(refused(query.get("error_description") ?? error ?? "it sent no code"));
    }
    answer(response, 200, "The login is complete. You can close this page.");
    const iss = query.get("iss");
    received.resolve({ code, state: expected, ...(iss !== null && { iss }) });
  });
  const failed = once(server, "error").then(([error]: Error[]) => Promise.reject(error!));
  server.listen(port, "127.0.0.1");
  await Promise.race([once(server, "listening"), failed]);
  failed.catch(() => {});
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    async receive(state, signal) {
      expected = state;
      const timeout = AbortSignal.timeout(DEADLINE_MS);
      const ended = AbortSignal.any([signal, timeout]);
      const stop = (): void => received.reject(timeout.aborted ? tooLate() : signal.reason);
      ended.addEventListener("abort", stop, { once: true });
      try {
        return await received.promise;
      } finally {
        ended.removeEventListener("abort", stop);
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeIdleConnections();
      server.close();
      server.closeAllConnections();
    },
  };
}

const NOT_OURS = "There is no such login here.";

/** A name that resolves to this machine must not reach it from another page (DNS rebinding). */
const isOwnHost = ({ headers }: IncomingMessage, address: ReturnType<ReturnType<typeof createServer>["address"]>) =>
  typeof address === "object" && headers.host === `127.0.0.1:${address?.port}`;

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${text}\n`);
}

const refused = (why: string): TandemError =>
  new TandemError("login_refused", `The authorization server refused the login: ${why.slice(0, 300)}`, {
    fix: "Try again, and agree on its page.",
  });

const tooLate = (): TandemError =>
  new TandemError("login_timeout", "The browser did not come back within ten minutes.", {
    fix: "Run the command again. If the browser is on another machine, forward the port: --port 8765 and ssh -L 8765:127.0.0.1:8765.",
  });
