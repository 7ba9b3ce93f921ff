import { SESSION_METADATA } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { requireScope } from "./authorize.ts";

/**
 * Bypass mode lets an agent run any program unasked, so it needs `admin`, as a rule that allows everything does. The mode is in
 * a session's metadata, or in the answer to a plan.
 */
export function requireScopeForMode(token: TokenRow, body: unknown): void {
  if (setsBypass(body)) requireScope(token, "admin");
}

const MODE_KEYS: ReadonlySet<string> = new Set(["mode", SESSION_METADATA.permissionMode]);

function setsBypass(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(setsBypass);
  if (typeof body !== "object" || body === null) return false;
  return Object.entries(body).some(([key, value]) => {
    if (MODE_KEYS.has(key)) return value === "bypassPermissions";
    // Content and tool inputs are data: their keys mean something else.
    return key !== "content" && key !== "input" && setsBypass(value);
  });
}
