import { Badge, type BadgeLook } from "../badge.tsx";
import type { JobState } from "./job-api.ts";

const STATES: Readonly<Record<JobState, { look: BadgeLook; word: string; title?: string }>> = {
  queued: { look: "accent", word: "queued" },
  running: { look: "accent", word: "running" },
  interrupted: {
    look: "wait",
    word: "interrupted",
    title: "Nobody works on it; the same job started again goes on where it was.",
  },
  done: { look: "good", word: "done" },
  partly: { look: "wait", word: "partly", title: "It went to its end, and something was skipped." },
  failed: { look: "bad", word: "failed" },
  cancelled: { look: "plain", word: "cancelled" },
};

export function JobBadge({ state }: { state: JobState }) {
  const { look, word, title } = STATES[state];
  return (
    <Badge look={look} {...(title !== undefined && { title })}>
      {word}
    </Badge>
  );
}
