import type { Message } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import type { LiveLog } from "../live/live-log.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { sendMessage } from "./composer/send.ts";

/** Offers to send the last message again after a failed turn. */
export function StuckDock({ session, log }: { session: string; log: LiveLog }) {
  const isStuck = useLive(feed.sessions).get(session)?.cut_short === "retries_exhausted";
  return isStuck ? <RetryButton session={session} log={log} /> : null;
}

function RetryButton({ session, log }: { session: string; log: LiveLog }) {
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
          keys="t"
          icon={<RotateCw aria-hidden className="size-3.5" />}
          disabled={again.isPending}
          onClick={() => again.mutate()}
        >
          Try again
        </Button>
      </p>
      {again.error && (
        <p role="alert" className="px-3 pb-1.5 text-bad">
          {again.error.message}
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
