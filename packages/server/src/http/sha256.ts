import { createHash } from "node:crypto";

/** What is kept of a secret. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
