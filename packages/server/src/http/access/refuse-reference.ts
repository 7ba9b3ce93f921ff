import { RequestError, SECRET_FORM } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { hasScope } from "./authorize.ts";

/** A reference reads a variable or a file of the server, or runs a program there: only its admins may name one. */
export function refuseReference(token: TokenRow, secret: string | undefined): void {
  if (secret === undefined || !SECRET_FORM.test(secret) || hasScope(token, "admin")) return;
  throw new RequestError("forbidden", "authorization_token: only a token with the scope admin may name a reference.", {
    fix: "Send the repository's token itself.",
  });
}
