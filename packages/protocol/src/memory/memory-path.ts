import { RequestError } from "../errors/request-error.ts";
import { TandemError } from "../errors/tandem-error.ts";

const MAX_SEGMENTS = 20;
const MAX_BYTES = 1_024;

/** Equal, or one is a parent of the other. */
export const memoryPathsOverlap = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

export function checkMemoryPath(path: string): void {
  const problem = problemOf(path);
  if (problem !== undefined) throw new RequestError("invalid_request", `path: ${problem}.`);
}

function problemOf(path: string): string | undefined {
  if (!path.startsWith("/")) return "it has to begin with /";
  const segments = path.slice(1).split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return "a segment cannot be empty, . or ..";
  }
  if (segments.length > MAX_SEGMENTS) return `it has more than ${MAX_SEGMENTS} segments`;
  if (new TextEncoder().encode(path).length > MAX_BYTES) return `it is longer than ${MAX_BYTES} bytes`;
  if (/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(path)) return "it holds a character that cannot be seen";
  return path === path.normalize("NFC") ? undefined : "it is not in Unicode's normal form C";
}

/** The path is taken, or would be a parent of an existing one. */
export class MemoryPathConflict extends TandemError {
  readonly other: { id: string; path: string };

  constructor({ id, path }: { id: string; path: string }) {
    super("memory_path_conflict", `There is a memory at ${path} already.`, {
      fix: "Rename or delete it, or update it.",
    });
    this.other = { id, path };
  }
}

export class MemoryPreconditionFailed extends TandemError {
  constructor() {
    super("memory_precondition_failed", "The memory has changed: its content does not have that hash.", {
      fix: "Retrieve it, and try again with what it is now.",
    });
  }
}
