import type { Conversation, openConversation } from "@tandem/claude-code";
import { LlmError } from "@tandem/protocol";
import type { EngineSettings } from "@tandem/sessions";

export interface ClaudeCodeLauncher {
  openConversation: typeof openConversation;
  executable: string;
}

/** Imports Claude Code's package with the first conversation: the import takes longer than opening a session. */
export const lazyConversation =
  (load: () => Promise<ClaudeCodeLauncher>): EngineSettings["openConversation"] =>
  (setup, host, transcripts) => {
    let opened: Conversation | undefined;
    let isClosed = false;
    const opening = load().then((starter) => {
      opened = starter.openConversation({ ...setup, executable: starter.executable }, host, transcripts);
      return opened;
    });
    opening.catch((error: unknown) => {
      isClosed = true;
      const failure = error instanceof LlmError ? error : new LlmError("process_died", String(error), { cause: error });
      host.onOutput({ type: "closed", error: failure });
    });
    const ready = opening.then((conversation) => conversation.ready);
    ready.catch(() => undefined);
    return {
      ready,
      get ranCall() {
        return opening.then((conversation) => conversation.ranCall);
      },
      get pid() {
        return opened?.pid;
      },
      get exited() {
        return opening.then(
          (conversation) => conversation.exited,
          () => undefined,
        );
      },
      get ended() {
        return isClosed || (opened?.ended ?? false);
      },
      send: (message) => void opening.then((conversation) => conversation.send(message)).catch(() => undefined),
      adjust: async (options) => (await opening).adjust(options),
      remembers: (uuid) => opened?.remembers(uuid) ?? false,
      takeBack: async (uuid) => (await opening).takeBack(uuid),
      interrupt: async () => (await opening).interrupt(),
      stopTask: async (id) => (await opening).stopTask(id),
      endRun: async (run, error) => (await opening).endRun(run, error),
      kept: async (id) => (await opening).kept(id),
      caughtUp: async (withinMs) => (await opening).caughtUp(withinMs),
      flush: async () => (await opening).flush(),
      pause: () => void opening.then((conversation) => conversation.pause()).catch(() => undefined),
      unpause: () => void opening.then((conversation) => conversation.unpause()).catch(() => undefined),
      async close(turn) {
        isClosed = true;
        const conversation = await opening.catch(() => undefined);
        await conversation?.close(turn);
      },
    };
  };
