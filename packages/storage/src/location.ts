import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TandemError } from "@tandem/protocol";

export type Location = { engine: "postgres"; url: string } | { engine: "sqlite"; file: string };

/** `postgres://…`, or a file: as a path, `file:///…` or `sqlite:path`. */
export function parseLocation(location: string): Location {
  if (/^postgres(ql)?:\/\//i.test(location)) return { engine: "postgres", url: location };
  if (/^file:\/\//i.test(location)) return { engine: "sqlite", file: fileURLToPath(location) };
  const path = location.replace(/^(sqlite|file):/i, "");
  // A letter alone is a drive.
  if (path === "" || path.startsWith(":") || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new TandemError("bad_location", `"${withoutSecrets(location)}" names no database that Tandem can use.`, {
      fix: "Write a path to a file, or postgres://user:password@host/database.",
    });
  }
  return { engine: "sqlite", file: resolve(path.replace(/^\/\/(?=\/)/, "")) };
}

const withoutSecrets = (location: string): string => location.replace(/\/\/[^/@]*@/, "//…@");
