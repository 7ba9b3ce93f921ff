import {
  LlmError,
  RequestError,
  type AuditNote,
  type MessagesProxy,
  type PassedAnswer,
  type PassedRequest,
  type Clock,
} from "@tandem/protocol";
import type { Charge, SharedScope, Store } from "@tandem/storage";
import { limitOf } from "../budgets/amounts.ts";
import { today } from "../budgets/budget-hook.ts";
import type { SpendingSettings } from "../budgets/budget-settings.ts";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import type { QuotaRegistry } from "../budgets/quota-registry.ts";
import { describeShortfall } from "../budgets/shortfall.ts";
import { amountsOf, estimateUsage, UNITS, type CallAmounts } from "./call-amounts.ts";

/** A caller's request. */
export interface MessagesRequest extends PassedRequest {
  /** The token's name, for the audit log. */
  actor: string;
}

/** Takes the answer as it arrives. */
export interface MessagesReply {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** Resolves when more can be written. */
  write(chunk: Uint8Array): Promise<void>;
}

/** Anthropic's Messages API, passed through to the configured backend. */
export interface Messages {
  /** Resolves when the answer is written and counted. Rejects before `head` if there is no answer. */
  send(request: MessagesRequest, reply: MessagesReply): Promise<void>;
}

export interface MessagesSettings {
  /** Connects to the configured backend. Rejects with a `RequestError` if that has no Messages API. */
  messages?: () => Promise<MessagesProxy>;
}

interface MessagesDependencies {
  settings: MessagesSettings;
  store: Pick<Store, "spending">;
  quotaRegistry: QuotaRegistry;
  spending: SpendingSettings;
  killSwitch: KillSwitch;
  clock: Clock;
  note: (note: AuditNote) => Promise<void>;
  log: { warn(details: Record<string, unknown>, message: string): void };
}

/**
 * Passes requests through and counts their cost for the project and the day. The most that a call can cost is charged before
 * it is sent, and corrected when its usage is known. If the usage stays unknown, because the process dies or nothing is
 * answered in time, the first charge stays.
 */
export class MessagesService implements Messages {
  readonly #parts: MessagesDependencies;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #proxy: Promise<MessagesProxy> | undefined;

  constructor(parts: MessagesDependencies) {
    this.#parts = parts;
  }

  async send(request: MessagesRequest, reply: MessagesReply): Promise<void> {
    const work = this.#parts.killSwitch.during(async (stopped) => {
      const proxy = await this.#connect();
      const signal = AbortSignal.any([request.signal, stopped, this.#closing.signal]);
      const passed = { ...request, signal };
      if (request.operation === "create") await this.#create(proxy, passed, reply);
      else await relay(await this.#ask(proxy, passed), reply);
    });
    this.#running.add(work);
    try {
      await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Waits for running calls until the deadline, then aborts them. Resolves when all are counted. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const cancel = this.#parts.clock.after(deadlineMs, () => this.#closing.abort(), { keepsProcess: true });
    await Promise.allSettled(this.#running);
    cancel();
  }

  /** Keeps the connection, with its secret, until it fails. */
  #connect(): Promise<MessagesProxy> {
    const { messages = refuse } = this.#parts.settings;
    const opened = (this.#proxy ??= messages());
    opened.catch(() => (this.#proxy = undefined));
    return opened;
  }

  async #ask(proxy: MessagesProxy, request: PassedRequest): Promise<PassedAnswer> {
    try {
      return await proxy.send(request);
    } catch (error) {
      // The secret may have been rotated.
      if (error instanceof LlmError && error.code === "auth_rejected") this.#proxy = undefined;
      throw error;
    }
  }

  async #create(proxy: MessagesProxy, request: MessagesRequest, reply: MessagesReply): Promise<void> {
    const most = amountsOf(request.parsed.model, estimateUsage(request));
    const accounts = await this.#reserve(most);
    let answer: PassedAnswer | undefined;
    let failure: unknown;
    try {
      answer = await this.#ask(proxy, request);
      await relay(answer, reply);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      const actual = spentBy(answer, failure) ?? most;
      await this.#settle(accounts, most, actual);
      await this.#audit(request, answer, actual, failure);
    }
  }

  /** Throws if a limit is too small. */
  async #reserve(most: CallAmounts): Promise<Charge[]> {
    const { quotaRegistry, spending, store, clock } = this.#parts;
    const accounts: { scope: SharedScope; of: string }[] = [
      { scope: "project", of: spending.project },
      { scope: "day", of: today(clock) },
    ];
    const limits = await quotaRegistry.of(accounts);
    const charges = accounts.flatMap((account, index) =>
      UNITS.map((unit) => ({ ...account, unit, amount: most[unit], limit: limitOf(limits[index]!, unit) })),
    );
    const [short] = await store.spending.charge(charges);
    if (!short) return charges;
    throw new RequestError(
      "invalid_request",
      describeShortfall({ ...short, wanted: most[short.unit as keyof CallAmounts] }),
      {
        fix: "Ask for fewer max_tokens, or raise the limit with `tandem budgets set`.",
        detail: "budget_reached",
      },
    );
  }

  async #settle(charges: readonly Charge[], most: CallAmounts, actual: CallAmounts): Promise<void> {
    const corrections = charges.flatMap((charge) => {
      const unit = charge.unit as keyof CallAmounts;
      const amount = actual[unit] - most[unit];
      return amount === 0 ? [] : [{ ...charge, amount, limit: null }];
    });
    try {
      await this.#parts.store.spending.charge(corrections);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "the cost of a call stays counted at its highest estimate");
    }
  }

  async #audit(
    { actor, parsed }: MessagesRequest,
    answer: PassedAnswer | undefined,
    spent: CallAmounts,
    failure: unknown,
  ): Promise<void> {
    const details = {
      model: answer?.usage()?.model ?? parsed.model,
      status: answer?.status ?? null,
      request_id: answer?.headers["request-id"] ?? null,
      usd: spent.usd / 1_000_000,
      tokens: spent.tokens,
      ...(failure !== undefined && { failure: failure instanceof LlmError ? failure.code : "aborted" }),
    };
    try {
      await this.#parts.note({ kind: "model.called", actor, details });
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "a call of the Messages API is missing in the audit log");
    }
  }
}

async function relay(answer: PassedAnswer, reply: MessagesReply): Promise<void> {
  reply.head(answer.status, answer.headers);
  for await (const chunk of answer.body) await reply.write(chunk);
}

const NOTHING: CallAmounts = { usd: 0, tokens: 0, requests: 0 };

/** Undefined if nothing is known about it. */
function spentBy(answer: PassedAnswer | undefined, failure: unknown): CallAmounts | undefined {
  if (answer && answer.status >= 400) return NOTHING;
  const known = answer?.usage();
  if (known) return amountsOf(known.model, known.usage);
  // Nothing arrived at the service, or it refused.
  return !answer && (failure instanceof RequestError || isUnsent(failure)) ? NOTHING : undefined;
}

const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS)/;

/** Whether the service refused the credential, or no connection was made. */
function isUnsent(error: unknown): boolean {
  if (error instanceof LlmError && (error.code === "auth_rejected" || error.code === "not_configured")) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return NO_CONNECTION.test(code) || isUnsent(error.cause);
}

async function refuse(): Promise<never> {
  throw new RequestError("invalid_request", "The Messages API is not available here: no model backend is configured.", {
    fix: "Send messages into a session, at /v1/sessions.",
  });
}
