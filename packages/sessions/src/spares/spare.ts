import { randomUUID } from "node:crypto";
import type { Conversation, ConversationSetup } from "@tandem/claude-code";
import type { SessionId, ThreadId } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import { conversationSetup } from "../process/conversation-setup.ts";
import { openProcessSetup, type ProcessSetup } from "../process/process-setup.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { PROCESS_STARTS } from "../process/start-gate.ts";
import { LateSession, type SessionBinding } from "./late-session.ts";

const NO_SKILLS = { folder: undefined, names: [], events: [], [Symbol.asyncDispose]: async () => undefined };

/**
 * A Claude Code process that waits for its session. It was started under the ids that the session will have, with its sandbox
 * around it, and has received no message.
 */
export class Spare implements AsyncDisposable {
  readonly id: SessionId;
  readonly primaryThread: ThreadId;
  readonly processSetup: ProcessSetup;
  readonly conversation: Conversation;
  /** The conversation's id in Claude Code. */
  readonly conversationId: string;
  readonly #late: LateSession;
  readonly #fingerprint: string;
  #isBound = false;

  private constructor(
    row: SessionRow,
    setup: ConversationSetup,
    parts: { processSetup: ProcessSetup; late: LateSession; conversation: Conversation; fingerprint: string },
  ) {
    this.id = row.id;
    this.primaryThread = row.primaryThread;
    this.conversationId = setup.id;
    this.processSetup = parts.processSetup;
    this.conversation = parts.conversation;
    this.#late = parts.late;
    this.#fingerprint = parts.fingerprint;
  }

  /** Resolves when the process is ready. `onEnded` is called if it ends or says anything before it has a session. */
  static async open(
    row: SessionRow,
    settings: ProcessSettings,
    around: { store: Pick<Store, "agents" | "records">; definitions: ToolDefinitions; onEnded: () => void },
  ): Promise<Spare> {
    await using parts = new AsyncDisposableStack();
    // It is not to say anything before it has a message; whatever it says, it is of no use any more.
    const late = new LateSession(() => around.onEnded());
    const { write, gateway, hide, onLoginFailed } = late;
    const processSetup = parts.use(
      await openProcessSetup(row, settings, { ...around, isFirst: true, write, gateway, hide, onLoginFailed }),
    );
    const own = { id: randomUUID(), resume: false };
    const wanted = await conversationSetup(row, own, settings, { ...processSetup, skills: NO_SKILLS });
    const setup = { ...wanted, hostServers: late.servers(wanted.hostServers ?? []) };
    const { launchFingerprint } = await import("@tandem/claude-code");
    const fingerprint = launchFingerprint(setup);
    using _ = await PROCESS_STARTS.enter();
    const conversation = settings.openConversation(setup, late.host(processSetup.hooks), late.transcripts);
    parts.defer(() => conversation.close("lost"));
    await conversation.ready;
    parts.move();
    return new Spare(row, setup, { processSetup, late, conversation, fingerprint });
  }

  /** Whether its sandbox and the trusted settings of its folder are still as they would be now. */
  async isCurrent(): Promise<boolean> {
    return !this.conversation.ended && (await this.processSetup.isCurrent().catch(() => false));
  }

  /** Whether a process with this setup, started now, would be the same as this one. */
  async fits(setup: ConversationSetup): Promise<boolean> {
    const { launchFingerprint } = await import("@tandem/claude-code");
    return launchFingerprint(setup) === this.#fingerprint && !this.conversation.ended;
  }

  bind(session: SessionBinding): Conversation {
    this.#late.bind(session);
    this.#isBound = true;
    return this.conversation;
  }

  /** Ends the process, unless it belongs to a session, which then has ended it itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isBound) await this.conversation.close("lost");
    await this.processSetup[Symbol.asyncDispose]();
  }
}
