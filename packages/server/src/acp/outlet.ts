import type { Patch } from "./patch.ts";
import type { PermissionQuestion, QuestionForm } from "./inquiry.ts";
import type { SessionSettings } from "./session-settings.ts";

/** What a client has said that it understands. */
export interface ClientAbilities {
  notices: boolean;
  compaction: boolean;
  forms: boolean;
  subagents: boolean;
}

/** The client's side of a connection, whichever version of the protocol it speaks. Updates arrive in the order of calls. */
export interface Outlet {
  /** Whether a client is told of its own prompts too: by the place that they have among the rest. */
  readonly echoes?: boolean;
  readonly abilities: ClientAbilities;
  /** Resolves when they are on their way: who waits for that is slowed down by a slow client. */
  update(session: string, patches: readonly Patch[]): Promise<void>;
  /** What may be chosen and what is; `before` is what the client was told last. */
  settings(session: string, settings: SessionSettings, before: SessionSettings): Promise<void>;
  commands(
    session: string,
    commands: readonly { name: string; description: string; hint: string | null }[],
  ): Promise<void>;
  /** The id of the option that was chosen; undefined where none was. The signal takes the question back. */
  ask(session: string, question: PermissionQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** What was filled in; undefined where nothing was. */
  fillIn(session: string, form: QuestionForm, signal: AbortSignal): Promise<Record<string, unknown> | undefined>;
}
