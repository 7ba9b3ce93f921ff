import { slowly, text, toolUse, type ModelRequest, type Script } from "@tandem/rehearsal";
import { join } from "node:path";

/** What a session of the chaos does with each message. */
export const KINDS = ["talk", "command", "approval", "custom"] as const;
export type Kind = (typeof KINDS)[number];

/** A message that says what the model shall do, with a key that nothing else has. */
export const orderOf = (key: string, kind: Kind): string => `Order ${key} ${kind}.`;
export const answerTo = (key: string): string => `Done ${key}.`;
export const effectsFile = (folder: string, key: string): string => join(folder, "effects", key.split("-")[0]!);

/**
 * A model that does what the last order says: talks, or calls a tool once and then says that it is done. What its tools do can
 * be counted: each leaves a line.
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
        // Told again after a crash, it is the same order.
        if (key !== order?.key) order = { key: key!, kind: kind as Kind, hasResult: false };
      }
    }
  }
  return order;
}
