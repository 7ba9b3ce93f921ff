import { createHash } from "node:crypto";
import { canonicalJson } from "@tandem/protocol";

/** A hash of a JSON value, independent of the order of keys. */
export const hashOf = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex");
