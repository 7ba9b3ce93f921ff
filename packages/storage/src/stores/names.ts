import { RequestError } from "@tandem/protocol";

/** Postgres refuses rows whose names do not fit into an entry of an index, together about 2,700 bytes. */
const MOST_BYTES = { key: 2_000, other: 200 };

/** What things are looked up by. Refuses what one of the engines could not tell from something else, or not keep. */
export function checkNames(names: Record<string, string>): void {
  for (const [what, name] of Object.entries(names)) {
    const most = what === "key" ? MOST_BYTES.key : MOST_BYTES.other;
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
