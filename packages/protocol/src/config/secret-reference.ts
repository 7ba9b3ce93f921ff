import { z } from "zod";

/** The JSON Schema format of a secret reference. The value may be a pasted secret, so it is never shown. */
export const SECRET_FORMAT = "secret-reference";

export const SECRET_FORM = /^(env:[A-Za-z_][A-Za-z0-9_]*|(file|command):\S.*)$/s;
const SECRET_EXPECTED =
  "expected env:NAME, file:path or command:program …: a secret itself does not belong in this file";

/** A reference to a secret, never the secret itself. */
export const secretReference = z
  .string({ error: SECRET_EXPECTED })
  .regex(SECRET_FORM, SECRET_EXPECTED)
  .meta({ format: SECRET_FORMAT });
export type SecretReference = z.infer<typeof secretReference>;
