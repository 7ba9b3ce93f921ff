import { createHash } from "node:crypto";
import type { ThreadId } from "@tandem/protocol";

/** Deterministic: a call maps to the same thread in every process of the conversation. */
export const threadId = (conversation: string, toolUseId: string): ThreadId =>
  `sthr_${createHash("sha256").update(`${conversation}/${toolUseId}`).digest("hex").slice(0, 26)}` as ThreadId;
