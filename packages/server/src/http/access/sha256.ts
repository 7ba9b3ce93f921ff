import { createHash } from "node:crypto";

/** The stored form of a secret. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
