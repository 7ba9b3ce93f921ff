import { type JobParams, RequestError } from "@tandem/protocol";
import { z } from "zod";
import { type JobKind, jobKind } from "../runs/job-kind.ts";
import { captureSession } from "./capture-session.ts";
import { captureText } from "./capture-text.ts";
import { MEMORY_SCOPES } from "../formats/memory-file.ts";
import type { MemoryParts } from "./memory-parts.ts";

const handedIn = z.strictObject({
  text: z.string().min(6).max(20_000),
  scope: z.enum(MEMORY_SCOPES).default("project"),
  /** Agent of the session. */
  agent: z.string().min(1).max(200).optional(),
  by: z.string().min(1).max(200),
}) satisfies z.ZodType<JobParams["remember"]>;
const memoryParams = z.union([z.strictObject({ session: z.string().min(1).max(100) }), handedIn]) satisfies z.ZodType<
  JobParams["memory"]
>;

/** A job that reads a session for memories, or proposes a submitted one. */
export const memoryKind = (parts: MemoryParts): JobKind =>
  jobKind(memoryParams, async (run, params) => {
    if ("text" in params) return captureText(run, parts, params);
    if (parts.settings.capture === "off") throw captureIsOff();
    return captureSession(run, parts, params.session);
  });

/** A separate kind for submissions, so that they need not wait for a session read. */
export const rememberKind = (parts: MemoryParts): JobKind =>
  jobKind(handedIn, (run, params) => captureText(run, parts, params));

export const captureIsOff = (): RequestError =>
  new RequestError("invalid_request", "Sessions are not read for memories: memory.capture is off.", {
    fix: "Set it with `tandem config set memory.capture propose`.",
  });
