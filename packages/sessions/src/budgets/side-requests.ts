import {
  costOf,
  dearestCostOf,
  type ModelUsage,
  type RequestNote,
  type SessionEventBody,
  type Clock,
} from "@tandem/protocol";
import type { ApiUsage } from "@tandem/sandbox";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { usageEvent, type UsageLedger } from "../log/usage-ledger.ts";

/** Claude Code reports its own requests within this time of their end. */
const SETTLE_MS = 2_000;

interface SideRequestDependencies {
  ledger: UsageLedger;
  writer: SessionWriter;
  settings: { clock: Clock };
}

type SideRequest = { model_usage: ModelUsage; tandem: RequestNote };

/** The gateway of a sandbox asks before each request to the model, and reports its usage. */
export interface GatewayWatch {
  onUsage(usage: ApiUsage, isFree: boolean): void;
  /** Why no further request may be sent. */
  refusal(): string | undefined;
}

/**
 * Counts model requests besides those of the conversation: a program in the sandbox can send some with the stand-in. They count
 * at once, and are logged when it is clear that Claude Code does not report them.
 */
export class SideRequests implements GatewayWatch {
  readonly #parts: SideRequestDependencies;
  readonly #hooks: TurnHooks;
  readonly #isRunning: () => boolean;
  #unsettled: SideRequest[] = [];

  /** `isRunning`: whether a turn is open, whose end logs the session's usage. */
  constructor(parts: SideRequestDependencies, hooks: TurnHooks, isRunning: () => boolean) {
    this.#parts = parts;
    this.#hooks = hooks;
    this.#isRunning = isRunning;
  }

  onUsage({ messageId, model, usage }: ApiUsage, isFree: boolean): void {
    const { ledger, settings } = this.#parts;
    const { cacheWrite1hTokens, cacheWrite5mTokens, webSearches } = usage;
    const request: SideRequest = {
      model_usage: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        cache_read_input_tokens: usage.cacheReadTokens,
        cache_creation_input_tokens: cacheWrite5mTokens + cacheWrite1hTokens,
      },
      tandem: {
        model,
        ...(messageId !== undefined && { message_id: messageId }),
        ...(cacheWrite5mTokens > 0 && { cache_write_5m_tokens: cacheWrite5mTokens }),
        ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens }),
        ...(webSearches > 0 && { web_searches: webSearches }),
        usd: isFree ? 0 : (costOf(model, usage) ?? dearestCostOf(usage)).usd,
      },
    };
    if (!ledger.addAside(request)) return;
    this.#unsettled.push(request);
    settings.clock.after(SETTLE_MS, () => this.#settle([request]));
  }

  refusal(): string | undefined {
    const reason = this.#hooks.refusesRequest();
    // The turn ends because of the limit, not because of the error that Claude Code gets.
    if (reason !== undefined) this.#hooks.spent();
    return reason;
  }

  /** Logs those that Claude Code has not reported by now: at the end of a turn, or of the process. */
  settle(): void {
    this.#settle(this.#unsettled);
  }

  #settle(requests: readonly SideRequest[]): void {
    const { ledger, writer } = this.#parts;
    const left = requests.filter((request) => this.#unsettled.includes(request) && ledger.isAside(request));
    this.#unsettled = this.#unsettled.filter((request) => !requests.includes(request));
    if (left.length === 0) return;
    this.#hooks.spent();
    const events = left.map((request): SessionEventBody => ({ type: "tandem.side_request", ...request }));
    // The next writer continues from the last usage event, and reads what follows it only for an open turn.
    void writer.write([...events, ...(this.#isRunning() ? [] : [usageEvent(ledger, writer.row)])]);
  }
}
