import { readFile } from "node:fs/promises";
import { parseCassette, TandemError, type Cassette } from "@tandem/protocol";

export async function readCassette(file: string): Promise<Cassette> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new TandemError("cassette_unreadable", `Cannot read ${file}: ${cause.code}.`, {
      fix: "Give the path of a file that `tandem cassettes export` wrote.",
      cause,
    });
  });
  return parseCassette(text);
}
