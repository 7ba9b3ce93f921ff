import type { Message } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { FlaskConical, RotateCw } from "lucide-react";
import { saveTestCase } from "../export/download-session.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import type { LiveLog } from "../live/live-log.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { sendMessage } from "./composer/send.ts";

/** Offers to send the last message again after a failed turn, or to save the session as a test case. */
export function StuckDock({ session, log }: { session: string; log: LiveLog }) {
  const state = useLive(feed.sessions).get(session);
  if (state?.cut_short !== "retries_exhausted") return null;
  return <FailedTurn session={session} title={state.title ?? "Untitled"} log={log} />;
}

function FailedTurn({ session, title, log }: { session: string; title: string; log: LiveLog }) {
  const save = useMutation({ mutationFn: () => saveTestCase(session, title) });
  const again = useMutation({
    mutationFn: () =>
      sendMessage(
        log,
        session,
        [{ type: "text", text: lastMessageText(log.messages.current) ?? "Continue." }],
        undefined,
      ),
  });
  useShortcuts("Failed turn", { t: ["Try again", () => again.mutate()] });
  return (
    <section aria-label="Failed turn" className="rounded-xl border border-bad/40 bg-surface text-sm">
      <p className="flex items-center gap-2 py-0.5 pr-1 pl-3">
        <span className="min-w-0 flex-1 text-ink-soft">The turn did not finish.</span>
        <Button
          look="quiet"
          size="small"
          icon={<FlaskConical aria-hidden className="size-3.5" />}
          disabled={save.isPending}
          onClick={() => save.mutate()}
        >
          Save as a test case
        </Button>
        <Button
          look="quiet"
          size="small"
          keys="t"
          icon={<RotateCw aria-hidden className="size-3.5" />}
          disabled={again.isPending}
          onClick={() => again.mutate()}
        >
          Try again
        </Button>
      </p>
      {(again.error ?? save.error) && (
        <p role="alert" className="px-3 pb-1.5 text-bad">
          {(again.error ?? save.error)?.message}
        </p>
      )}
    </section>
  );
}

/** Undefined if the message had attachments, which cannot be sent again from here. */
function lastMessageText(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(({ role, thread }) => role === "user" && thread === null);
  const texts = last?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? [];
  return texts.length > 0 && texts.length === last?.parts.length ? texts.join("\n\n") : undefined;
}
