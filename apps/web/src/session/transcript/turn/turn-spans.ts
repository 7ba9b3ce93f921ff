import type { Message } from "@tandem/protocol";
import { waitOf } from "./waited-ms.ts";

export interface TurnSpan {
  kind: "model" | "tool" | "waiting";
  label: string;
  from: number;
  to: number;
}

/** Model requests, tool calls and waits for a person in a turn, sorted by their start. */
export function turnSpans(messages: readonly Message[]): TurnSpan[] {
  const spans = messages.flatMap(({ parts, thread }) =>
    parts.flatMap((part): TurnSpan[] => {
      if (part.type === "step") {
        if (part.at === null || part.duration_ms === null) return [];
        const from = Date.parse(part.at);
        const label = `${part.model ?? "Model"}${thread === null ? "" : ", subagent"}`;
        return [{ kind: "model", label, from, to: from + part.duration_ms }];
      }
      if (part.type !== "tool") return [];
      const waits = waitOf(part).map(([from, to]): TurnSpan => ({
        kind: "waiting",
        label: part.name ?? "Tool",
        from,
        to,
      }));
      const { state } = part;
      const started = "started_at" in state ? state.started_at : null;
      if (started === null || !("ended_at" in state)) return waits;
      return [
        ...waits,
        { kind: "tool", label: part.name ?? "Tool", from: Date.parse(started), to: Date.parse(state.ended_at) },
      ];
    }),
  );
  return spans.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
}
