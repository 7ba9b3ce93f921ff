import type { SessionEvent } from "@tandem/protocol";
import { SendHorizontal } from "lucide-react";
import { useState } from "react";
import { api } from "../api/client.ts";
import type { SessionLog } from "../live/session-log.ts";

export function Composer({ session, log }: { session: string; log: SessionLog }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const send = async (): Promise<void> => {
    const words = text.trim();
    if (words === "") return;
    try {
      const event = { type: "user.message", content: [{ type: "text", text: words }], tandem: { commands: true } };
      const { data } = await api.post<{ data: SessionEvent[] }>(`/v1/sessions/${session}/events`, { events: [event] });
      log.sent(data);
      setText("");
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form
      className="mx-auto w-full max-w-4xl px-4 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {problem && <p className="mb-1 text-sm text-bad">{problem}</p>}
      <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-surface p-2 focus-within:border-accent">
        <textarea
          aria-label="Message"
          rows={Math.min(8, text.split("\n").length)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
          placeholder="Say what is to be done"
          className="min-h-6 flex-1 resize-none bg-transparent px-1 outline-none placeholder:text-ink-faint"
        />
        <button
          type="submit"
          aria-label="Send"
          disabled={text.trim() === ""}
          className="rounded-lg bg-accent p-1.5 text-on-accent disabled:opacity-40"
        >
          <SendHorizontal aria-hidden className="size-4" />
        </button>
      </div>
    </form>
  );
}
