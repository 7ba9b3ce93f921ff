import { z } from "zod";
import { tenantId } from "./tenants.ts";

// Signing in with a link. Its addresses are in `sign-in-paths.ts`.

/** `SIGN_IN_PATH`: exchanges the one-time code of a link. */
export const signInParams = z.strictObject({
  code: z.string().min(1).max(200),
  /** The public key with which this browser signs its requests. */
  key: z.string().max(200),
});
export type SignInParams = z.infer<typeof signInParams>;
export const signedIn = z.object({ type: z.literal("signed_in") });
export type SignedIn = z.infer<typeof signedIn>;

/** `SIGN_OUT_PATH`: takes no body. */
export const signedOut = z.object({ type: z.literal("signed_out") });
export type SignedOut = z.infer<typeof signedOut>;

/** `SIGN_IN_CODES_PATH`: the person for whom a link is requested. */
export const signInCodeParams = z.strictObject({
  tenant: tenantId.optional(),
  name: z.string().trim().min(1).max(100).optional(),
});
export type SignInCodeParams = z.infer<typeof signInCodeParams>;

export const signInCode = z.object({ type: z.literal("sign_in_code"), code: z.string(), expires_at: z.string() });
export type SignInCode = z.infer<typeof signInCode>;
