import { ArrowUp, CornerDownLeft, Square, Zap, GitFork } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { feed } from "../../live/session-feed.ts";
import { useLive, useLivePart } from "../../live/live-value.ts";
import type { LiveLog } from "../../live/live-log.ts";
import { boundKey, shownKey, useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AttachButton } from "../../prompt/attach-button.tsx";
import { AttachmentList } from "../../prompt/attachment-list.tsx";
import { CompletionList } from "../../prompt/completion-list.tsx";
import { sessionAction } from "../../state/open-dialogs.ts";
import { isWaiting, withdrawnMessage, withdrawMessage } from "./withdrawn-message.ts";
import { runShell, sendMessage, stopTurn } from "./send.ts";
import { blocksOf, useAttachments } from "../../prompt/use-attachments.ts";
import { useCompletion } from "../../prompt/use-completion.ts";
import { useComposerKeys } from "./use-composer-keys.ts";
import { useDraft } from "./use-draft.ts";
import { useDroppedFiles } from "../../prompt/use-dropped-files.ts";
import { useHistory } from "./use-history.ts";

const MAX_ROWS = 12;

/** The message field. The text is cleared only after the server has accepted it, so a failed request loses nothing. */
export function Composer({
  session,
  log,
  isRunning,
  isEnded,
  children,
}: {
  session: string;
  log: LiveLog;
  isRunning: boolean;
  isEnded: boolean;
  /** The pickers in the bar below the text. */
  children: ReactNode;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(session);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const { attachments, isUploading, add, paste, remove, clear } = useAttachments();
  const history = useHistory(log);

  const isShell = text.startsWith("!");
  const isEmpty = text.trim() === "" && attachments.length === 0;

  const write = (value: string, at = value.length): void => {
    setText(value);
    requestAnimationFrame(() => area.current?.setSelectionRange(at, at));
  };
  const completion = useCompletion({ text, place: { session }, isOff: isShell, write });
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      history.leave();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const send = (delivery?: "steer"): void => {
    if (isBusy || isUploading || isEmpty || isEnded) return;
    void attempt(async () => {
      if (isShell) await runShell(session, text.slice(1).trim());
      else {
        const words = text.trim();
        const content = [...blocksOf(attachments), ...(words === "" ? [] : [{ type: "text" as const, text: words }])];
        await sendMessage(log, session, content, isRunning ? (delivery ?? "queue") : undefined);
        clear();
      }
      setText("");
    });
  };
  const stop = (): void => {
    const turn = log.messages.current.findLast((message) => message.turn !== null)?.turn ?? undefined;
    void attempt(() => stopTurn(session, turn));
  };
  const isAsked = (useLive(feed.sessions).get(session)?.waiting_for.length ?? 0) > 0;
  const { onKeyDown, isStopArmed } = useComposerKeys({
    text,
    completion,
    isRunning,
    isAsked,
    send,
    stop,
    history,
    write,
  });
  const waiting = useLivePart(log.messages, (messages) => messages.findLast(isWaiting));
  useShortcuts("Message", {
    i: ["Write a message", () => area.current?.focus()],
    ...(isRunning && { "mod+.": ["Stop the turn", stop] as const }),
    ...(waiting && {
      u: ["Withdraw the queued message", () => void attempt(() => withdrawMessage(session, waiting))] as const,
    }),
  });

  const back = useLive(withdrawnMessage);
  const takeIn = useEffectEvent((words: string) => {
    withdrawnMessage.set(undefined);
    write(text.trim() === "" ? words : `${text}\n\n${words}`);
    area.current?.focus();
  });
  useEffect(() => {
    if (back?.session === session) takeIn(back.text);
  }, [back, session]);

  const isOver = useDroppedFiles(add);

  if (isEnded) return <EndedNotice session={session} />;
  const frame = isOver
    ? "border-dashed border-accent ring-4 ring-accent/20"
    : isShell
      ? "border-wait"
      : "border-edge focus-within:border-accent";
  return (
    <form
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Problem error={problem} className="mb-1.5" />
      {completion.isOpen && (
        <CompletionList
          id={completion.id}
          sign={completion.target?.kind === "command" ? "/" : "@"}
          choices={completion.choices}
          current={completion.current}
          onChoose={completion.choose}
        />
      )}
      <div className={`rounded-2xl border bg-surface shadow-float ${frame}`}>
        <AttachmentList attachments={attachments} onRemove={remove} />
        <textarea
          ref={area}
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={completion.isOpen ? completion.id : undefined}
          aria-activedescendant={completion.isOpen ? `${completion.id}-${completion.current}` : undefined}
          rows={Math.min(MAX_ROWS, text.split("\n").length)}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            completion.onCaret(event.target.selectionStart, true);
            history.leave();
          }}
          onSelect={(event) => completion.onCaret(event.currentTarget.selectionStart, false)}
          onKeyDown={onKeyDown}
          onPaste={paste}
          placeholder={
            isOver
              ? "Drop to attach"
              : isRunning
                ? "Queue the next message, or steer this turn"
                : "What should the agent do?"
          }
          className={`field-sizing-content block max-h-80 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 outline-none placeholder:text-ink-faint pointer-coarse:text-[1rem] ${isShell ? "font-mono" : ""}`}
        />
        <div className="flex items-center gap-1 px-2 pb-2">
          <AttachButton onFiles={add} />
          <div className="flex min-w-0 flex-1 items-center gap-0.5 overflow-x-auto [scrollbar-width:none]">
            {children}
          </div>
          {isShell && <span className="shrink-0 text-xs text-wait max-md:hidden">Runs in the session’s folder</span>}
          {isRunning && !isEmpty && !isShell && (
            <Button
              look="plain"
              size="small"
              icon={<Zap aria-hidden className="size-3.5" />}
              title={`Sends it into the running turn (${shownKey("mod+enter")})`}
              disabled={isBusy || isUploading}
              onClick={() => send("steer")}
            >
              Steer
            </Button>
          )}
          {isRunning && (
            <Button
              look="danger"
              size="small"
              icon={<Square aria-hidden className="size-3 fill-current" />}
              title={`Stops the turn (Esc twice, or ${shownKey(boundKey("mod+."))})`}
              onClick={stop}
            >
              {isStopArmed ? "Esc again" : "Stop"}
            </Button>
          )}
          {(!isRunning || !isEmpty) && (
            <Button
              type="submit"
              look="primary"
              size={isRunning ? "small" : "icon"}
              aria-label={isShell ? "Run" : isRunning ? "Queue" : "Send"}
              disabled={isBusy || isUploading || isEmpty}
              icon={
                isRunning ? (
                  <CornerDownLeft aria-hidden className="size-3.5" />
                ) : (
                  <ArrowUp aria-hidden className="size-4" />
                )
              }
            >
              {isRunning ? (isShell ? "Run" : "Queue") : undefined}
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}

/** Replaces the composer of a session that has ended. */
function EndedNotice({ session }: { session: string }) {
  return (
    <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-2 px-5 py-4 text-sm text-ink-faint">
      <p>This session has ended. You can read it or fork it.</p>
      <Button size="small" onClick={() => sessionAction.set({ kind: "fork", session: { id: session, title: null } })}>
        <GitFork aria-hidden className="size-4" /> Fork …
      </Button>
    </div>
  );
}
