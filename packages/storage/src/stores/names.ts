import { RequestError } from "@tandem/protocol";

/** Postgres limits an index entry to about 2,700 bytes. */
const MAX_BYTES = { key: 2_000, other: 200 };

/** Rejects names that one of the engines could not store or would confuse with another name. */
export function checkNames(names: Record<string, string>): void {
  for (const [what, name] of Object.entries(names)) {
    const most = what === "key" ? MAX_BYTES.key : MAX_BYTES.other;
    if (name.includes("\0") || !name.isWellFormed()) {
      throw new RequestError("invalid_request", `The ${what} ${JSON.stringify(name)} is not whole text.`, {
        fix: "Leave out NUL characters and halves of surrogate pairs.",
      });
    }
    if (Buffer.byteLength(name) > most) {
      throw new RequestError("invalid_request", `The ${what} "${name.slice(0, 40)}…" is too long.`, {
        fix: `Use at most ${most} bytes, such as a hash of it.`,
      });
    }
  }
}
