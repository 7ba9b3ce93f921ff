import type { IncomingMessage } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { RequestError } from "@tandem/protocol";
import type { Logger } from "../http/create-logger.ts";
import { hasBody, readBytes } from "../http/request/read-body.ts";
import { isPageKey } from "../http/page/page-signatures.ts";
import type { Route } from "../http/route.ts";
import type { RoutedRequest } from "../http/request/routed-request.ts";
import type { ServerSettings } from "../http/settings.ts";
import { mergeAnswers } from "./merge-answers.ts";
import { forwardRequest, PassOnFailed, relay, type PassedRequest } from "./forward-request.ts";
import { forwardedId } from "../http/request/forwarded-id.ts";
import type { ForwardSeal } from "../http/access/forward-seal.ts";
import { isReachable, type Peer } from "./roster.ts";
import { Redirect, type RedirectDependencies } from "./redirect.ts";

/** The other process times out by itself before that, with its own error message. */
const GRACE_MS = 5_000;
/** Limits how long a merged list waits for each process. */
const EACH_MS = 10_000;
const SMALL_ANSWER = 4 * 1024 * 1024;
/** The error detail of a process that no longer writes the session. */
const HELD = "session_held";

type Limits = Pick<ServerSettings, "handlerTimeoutMs" | "longTimeoutMs" | "maxJsonBytes">;

interface ForwarderDependencies extends RedirectDependencies {
  limits: Limits;
  seal: ForwardSeal;
  logger: Logger;
}

/** Runs a request in this process, or forwards it unchanged to the process of the fleet that can handle it. */
export class Forwarder {
  readonly #dependencies: ForwarderDependencies;
  readonly #redirect: Redirect;

  constructor(dependencies: ForwarderDependencies) {
    this.#dependencies = dependencies;
    this.#redirect = new Redirect(dependencies);
  }

  async run(
    route: Route,
    request: RoutedRequest,
    here: (request: RoutedRequest) => Promise<Response>,
  ): Promise<Response> {
    const { at } = route;
    if (at === "here" || forwardedId(request.incoming) !== undefined) return here(request);
    const limit = route.kind === "json" && route.body ? this.#dependencies.limits.maxJsonBytes : SMALL_BODY;
    const body = hasBody(request.incoming) ? await readBytes(request.incoming, limit) : undefined;
    const known: RoutedRequest = { ...request, ...(body && { body }) };
    if (at === "each") return this.#each(known, await here(known));
    const input = { at, params: request.params, search: request.search, body: parsed(body) };
    let tried: Peer | "here" | undefined;
    for (;;) {
      const isRetry = tried !== undefined;
      const destination = await this.#redirect.destination(input, tried === "here" ? "nobody" : tried?.holder).catch(
        // No other process can handle it, so report the one that could not be reached.
        (error: unknown) => Promise.reject(tried && tried !== "here" ? unreachable(tried) : error),
      );
      const answer =
        destination === "here"
          ? await this.#tryHere(known, here)
          : await this.#tryThere(route, destination, known, isRetry);
      if (answer !== "moved" && answer !== "unreached") return answer;
      if (isRetry) throw unreachable(destination);
      // The process that released the session may acquire it again.
      tried = answer === "moved" ? "here" : destination;
    }
  }

  async #passed({ incoming, outgoing, token, body }: RoutedRequest): Promise<PassedRequest> {
    const { method = "GET", url = "/" } = incoming;
    const id = String(outgoing.getHeader("request-id"));
    const seal = isPageKey(token) ? await this.#dependencies.seal.create({ method, url, id }, token) : undefined;
    return { method, url, id, seal, body, headers: incoming.headers, remote: incoming.socket.remoteAddress };
  }

  async #each(request: RoutedRequest, own: Response): Promise<Response> {
    const others = await this.#others(({ role }) => role !== "server");
    if (others.length === 0 || !own.ok) return own;
    const answers = await this.#askAll(others, await this.#passed(request), EACH_MS);
    return Response.json(mergeAnswers([(await own.json()) as Record<string, unknown>, ...answers]));
  }

  async #others(fits: (peer: Peer) => boolean): Promise<Peer[]> {
    const rows = await this.#dependencies.roster.living();
    return rows.filter(isReachable).filter((peer) => peer.holder !== this.#dependencies.self.holder && fits(peer));
  }

  async #askAll(
    peers: readonly Peer[],
    request: PassedRequest,
    deadlineMs: number,
  ): Promise<Record<string, unknown>[]> {
    const answers = await Promise.all(
      peers.map(async (peer) => {
        try {
          const signal = AbortSignal.timeout(deadlineMs);
          const answer = await forwardRequest(peer, request, { signal, deadlineMs });
          const text = (await readBytes(answer, SMALL_ANSWER)).toString();
          return answer.statusCode === 200 ? [JSON.parse(text) as Record<string, unknown>] : [];
        } catch (error) {
          this.#dependencies.logger.warn(
            { err: error, worker: peer.holder, path: request.url.split("?", 1)[0] },
            "a worker did not answer",
          );
          return [];
        }
      }),
    );
    return answers.flat();
  }

  async #tryHere(
    request: RoutedRequest,
    here: (request: RoutedRequest) => Promise<Response>,
  ): Promise<Response | "moved"> {
    try {
      return await here(request);
    } catch (error) {
      if (error instanceof RequestError && error.detail === HELD) return this.#lost(error);
      throw error;
    }
  }

  /** Another process acquired the session after the lookup. Retried; this error is returned if no holder is found. */
  #lost(error: RequestError): "moved" {
    this.#dependencies.logger.debug({ err: error }, "a session is held elsewhere by now");
    return "moved";
  }

  async #tryThere(
    route: Route,
    peer: Peer,
    request: RoutedRequest,
    isRetry: boolean,
  ): Promise<Response | "moved" | "unreached"> {
    const { outgoing } = request;
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const deadlineMs = this.#dependencies.limits[route.longRunning ? "longTimeoutMs" : "handlerTimeoutMs"] + GRACE_MS;
    if (route.longRunning) request.incoming.setTimeout(deadlineMs + GRACE_MS);
    let answer: IncomingMessage;
    try {
      answer = await forwardRequest(peer, await this.#passed(request), { signal: gone.signal, deadlineMs });
    } catch (error) {
      if (!(error instanceof PassOnFailed)) throw error;
      this.#dependencies.logger.warn(
        { err: error.cause, worker: peer.holder, again: isRetry },
        "a worker did not answer",
      );
      if (!error.mayHaveArrived || route.method === "GET") return "unreached";
      throw brokenOff(peer);
    }
    if (answer.statusCode === 409) {
      const bytes = await readBytes(answer, SMALL_ANSWER);
      if (!isRetry && bytes.includes(`"${HELD}"`)) return "moved";
      return new Response(bytes, {
        status: 409,
        headers: { "content-type": "application/json", "x-should-retry": "false" },
      });
    }
    await relay(answer, outgoing);
    return RESPONSE_ALREADY_SENT;
  }
}

/** Enough for an empty object. */
const SMALL_BODY = 1_024;

/** Best effort: the process that handles the request reports invalid JSON. */
function parsed(body: Uint8Array | undefined): unknown {
  if (!body) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  } catch {
    return undefined;
  }
}

const nameOf = ({ holder, machine, address }: Peer): string => `${holder} on ${machine}, at ${address},`;

function unreachable(destination: Peer | "here"): RequestError {
  return destination === "here"
    ? new RequestError("conflict", "The session went from one process to another while this was asked.", {
        fix: "Try again.",
      })
    : new RequestError("unavailable", `The worker ${nameOf(destination)} cannot be reached.`, {
        fix: "Try again in a moment; if its machine is gone, start a worker that has the session's folder.",
      });
}

function brokenOff(peer: Peer): RequestError {
  return new RequestError(
    "unavailable",
    `The worker ${nameOf(peer)} broke off in the middle of this: it may have been done.`,
    { fix: "Look before you send it again." },
  );
}
