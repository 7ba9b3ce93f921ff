import type { RecordChange, Records } from "@tandem/storage";
import { z } from "zod";
import type { Change, Hunk } from "./proposal.ts";

/** By citation: the text that a person rejected. */
const KIND = "rejected_passage";
const rejectedPassage = z.object({ quote: z.string(), proposal: z.string(), by: z.string(), at: z.string() });

/** Records of the passages that a rejected hunk rests on. */
export function rememberRejectedPassages(
  { evidence }: Pick<Change, "evidence">,
  { support, removal }: Pick<Hunk, "support" | "removal">,
  decided: { proposal: string; by: string; at: string },
): RecordChange[] {
  const cited = [...new Set([...support.flat(), ...removal])].flatMap((index) => evidence[index] ?? []);
  return cited.flatMap((item): RecordChange[] => {
    if (item.type !== "source") return [];
    const quote = (item.quote ?? "").replace(/…$/, "");
    return [{ type: "put", kind: KIND, key: item.citation, value: { quote, ...decided } }];
  });
}

/** Citations of the passages that still contain the rejected text. */
export async function findRejected(
  { records, space }: { records: Pick<Records, "getMany">; space: string },
  passages: readonly { citation: string; content: string }[],
): Promise<Set<string>> {
  const stored = await records.getMany(
    space,
    KIND,
    passages.map(({ citation }) => citation),
  );
  const quotes = new Map(stored.map(({ key, value }) => [key, rejectedPassage.parse(value).quote]));
  const isRejected = ({ citation, content }: { citation: string; content: string }): boolean => {
    const quote = quotes.get(citation);
    return quote !== undefined && content.includes(quote);
  };
  return new Set(passages.filter(isRejected).map(({ citation }) => citation));
}
