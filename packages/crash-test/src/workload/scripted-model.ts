import {
  reply,
  slowly,
  startRehearsal,
  text,
  toolUse,
  type ModelRequest,
  type Rehearsal,
  type Reply,
} from "@tandem/rehearsal";
import type { ModelReply, OrderKind } from "../operation-history.ts";
import { answerText, callId, ordersIn } from "../order-text.ts";

/** Long enough for a fault to hit an answer while it streams. */
const TOKEN_MS = 15;
const INTERRUPTED_TOKEN_MS = 60;

interface FoundOrder {
  key: string;
  kind: OrderKind;
  hasResult: boolean;
}

/**
 * A model that follows the last order: it answers, or calls a tool once and then answers. Every reply has its own number,
 * so that the observer can tell a repeated call from a second one.
 */
export class ScriptedModel implements AsyncDisposable {
  readonly #rehearsal: Rehearsal;
  readonly #replies: ModelReply[] = [];
  /** The command of a tool that takes effect once for each start. */
  readonly #commandOf: (id: string) => string;
  onReply: (reply: ModelReply) => void = () => undefined;

  private constructor(rehearsal: Rehearsal, commandOf: (id: string) => string) {
    this.#rehearsal = rehearsal;
    this.#commandOf = commandOf;
  }

  static async start(commandOf: (id: string) => string, port?: number): Promise<ScriptedModel> {
    const rehearsal = await startRehearsal([], port === undefined ? {} : { port });
    const model = new ScriptedModel(rehearsal, commandOf);
    rehearsal.use((request) => model.#answer(request));
    return model;
  }

  get url(): string {
    return this.#rehearsal.url;
  }

  /** All replies to orders. */
  get replies(): readonly ModelReply[] {
    return this.#replies;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rehearsal.close();
  }

  #answer(request: ModelRequest): Reply {
    const order = lastOrder(request);
    // Without tools it is a side request, such as one for a title.
    if (!order || request.tools.length === 0) return text("Nothing to do.");
    const { key, kind, hasResult } = order;
    const isCall = !hasResult && kind !== "talk" && kind !== "interrupt";
    const number = this.#replies.length + 1;
    const conversation = request.headers["x-claude-code-session-id"];
    const said: ModelReply = {
      order: key,
      number,
      type: isCall ? "call" : "answer",
      at: Date.now(),
      ...(typeof conversation === "string" && { conversation }),
    };
    this.#replies.push(said);
    this.onReply(said);
    if (!isCall) {
      const tokenMs = kind === "interrupt" ? INTERRUPTED_TOKEN_MS : TOKEN_MS;
      return slowly(text(`One word follows another. ${answerText(key, number)}`), { tokenMs });
    }
    const id = callId(key, number);
    const tool = (name: RegExp): string => request.toolNames.find((one) => name.test(one)) ?? "missing_tool";
    const call =
      kind === "custom"
        ? toolUse(tool(/(^|__)lookup$/), { key: id })
        : toolUse(tool(/^bash$/i), { command: this.#commandOf(id) });
    return slowly(reply([call]), { tokenMs: TOKEN_MS });
  }
}

function lastOrder({ messages }: ModelRequest): FoundOrder | undefined {
  let order: FoundOrder | undefined;
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "tool_result" && order) order.hasResult = true;
      const said = block.type === "text" && typeof block["text"] === "string" ? block["text"] : "";
      for (const { key, kind } of ordersIn(said)) {
        // After a crash, the server may repeat the message.
        if (key !== order?.key) order = { key, kind, hasResult: false };
      }
    }
  }
  return order;
}
