import { slowly, text, toolUse, type ModelRequest, type Script } from "@tandem/rehearsal";
import { join } from "node:path";

/** The action of a session for each message. */
export const KINDS = ["talk", "command", "approval", "custom"] as const;
export type Kind = (typeof KINDS)[number];

/** A message that tells the model what to do, with a unique key. */
export const orderOf = (key: string, kind: Kind): string => `Order ${key} ${kind}.`;
export const answerTo = (key: string): string => `Done ${key}.`;
/** In the folder of the sessions, because their sandbox hides others. */
export const effectsFile = (folder: string, key: string): string => join(folder, "effects", key.split("-")[0]!);

/**
 * A model that follows the last order: it answers, or calls a tool once and reports that it is done. Each tool call leaves a
 * line, so calls can be counted.
 */
export const chaosModel =
  (folder: string): Script =>
  (request) => {
    const order = lastOrder(request);
    if (!order) return text("Nothing to do.");
    const { key, kind, hasResult } = order;
    if (kind === "talk" || hasResult)
      return slowly(text(`One word follows another. ${answerTo(key)}`), { tokenMs: 20 });
    if (kind === "custom") return toolUse("mcp__tandem__lookup", { key });
    return toolUse("Bash", { command: `echo ${key} >> ${effectsFile(folder, key)}` });
  };

function lastOrder({ messages }: ModelRequest): { key: string; kind: Kind; hasResult: boolean } | undefined {
  let order: { key: string; kind: Kind; hasResult: boolean } | undefined;
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "tool_result" && order) order.hasResult = true;
      const said = block.type === "text" && typeof block["text"] === "string" ? block["text"] : "";
      for (const [, key, kind] of said.matchAll(/Order (s\d+-m\d+) (talk|command|approval|custom)\./g)) {
        // After a crash, the same order may arrive again.
        if (key !== order?.key) order = { key: key!, kind: kind as Kind, hasResult: false };
      }
    }
  }
  return order;
}
