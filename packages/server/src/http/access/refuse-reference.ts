import { RequestError, SECRET_FORM } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenRow } from "@tandem/storage";
import { hasScope } from "./authorize.ts";

/**
 * A reference reads a variable or a file of the server, or runs a program there: only the operator's admins may name one.
 * Admins of other tenants do not run this machine.
 */
export function refuseReference(token: Pick<TokenRow, "scopes" | "tenant">, secret: string | undefined): void {
  if (secret === undefined || !SECRET_FORM.test(secret)) return;
  if (token.tenant === DEFAULT_TENANT && hasScope(token, "admin")) return;
  throw new RequestError("forbidden", "authorization_token: only the server's admins may name a reference.", {
    fix: "Send the repository's token itself.",
  });
}
