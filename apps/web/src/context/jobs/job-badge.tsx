import { Badge, type BadgeLook } from "../badge.tsx";
import type { Job } from "@tandem/protocol";

const STATES: Readonly<Record<Job["state"], { look: BadgeLook; word: string; title?: string }>> = {
  queued: { look: "accent", word: "queued" },
  running: { look: "accent", word: "running" },
  interrupted: {
    look: "wait",
    word: "interrupted",
    title: "The job is not running. Start it again to resume where it stopped.",
  },
  done: { look: "good", word: "done" },
  partly: { look: "wait", word: "partly", title: "The job finished, but some items were skipped." },
  failed: { look: "bad", word: "failed" },
  cancelled: { look: "plain", word: "cancelled" },
};

export function JobBadge({ state }: { state: Job["state"] }) {
  const { look, word, title } = STATES[state];
  return (
    <Badge look={look} {...(title !== undefined && { title })}>
      {word}
    </Badge>
  );
}
