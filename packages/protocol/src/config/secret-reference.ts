import { z } from "zod";

/** Marks in the JSON Schema what only a folder that the user trusts may set: it decides what runs and where data goes. */
export const NEEDS_TRUST = "x-needs-trust";
/** The JSON Schema format of a secret's place; such a value may be a pasted secret, so it is never shown. */
export const SECRET_FORMAT = "secret-reference";

export const SECRET_FORM = /^(env:[A-Za-z_][A-Za-z0-9_]*|(file|command):\S.*)$/s;
const SECRET_EXPECTED =
  "expected env:NAME, file:path or command:program …: a secret itself does not belong in this file";

/** Where a secret is kept, never the secret itself. */
export const secretReference = z
  .string({ error: SECRET_EXPECTED })
  .regex(SECRET_FORM, SECRET_EXPECTED)
  .meta({ format: SECRET_FORMAT });
export type SecretReference = z.infer<typeof secretReference>;
