import { z } from "zod";
import type { TranscriptLine } from "./transcript-line.ts";
import { readTotals } from "../translate/reported-usage.ts";
import type { KnownThread } from "../translate/subagent-threads.ts";
import type { Past } from "../translate/translator-input.ts";

const subagent = z.object({ type: z.literal("agent_metadata"), agentType: z.string(), toolUseId: z.string() });

/** Reads the subagents of a conversation from its transcripts, and the usage totals that Claude Code continues from. */
export function readPast(transcripts: ReadonlyMap<string, readonly TranscriptLine[]>): Past {
  const threads = [...transcripts].flatMap(([subpath, lines]): KnownThread[] => {
    const taskId = /(?:^|\/)agent-([^/]+)$/.exec(subpath)?.[1];
    const known = lines.map((line) => subagent.safeParse(line).data).findLast((data) => data !== undefined);
    return taskId && known ? [{ taskId, toolUseId: known.toolUseId, agentName: known.agentType }] : [];
  });
  const totals = transcripts.get("")?.findLast(({ type }) => type === "cost-state");
  return { threads, totals: readTotals(totals?.["modelUsage"]) };
}
