import { TandemError } from "@tandem/protocol";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ensureTandemHome, trustHome, type Variables } from "./tandem-home.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

/** Maps folders to the content that was trusted. Only the user can write the file. */
export class TrustFile<Entry extends z.ZodType> {
  readonly #name: string;
  readonly #schema: z.ZodType<{ version: 1; folders: Record<string, z.output<Entry>> }>;

  constructor(name: string, entry: Entry) {
    this.#name = name;
    this.#schema = z.object({ version: z.literal(1), folders: z.record(z.string(), entry) });
  }

  async read(env: Variables): Promise<Record<string, z.output<Entry>>> {
    const file = join(trustHome(env), this.#name);
    const info = await stat(file).catch(() => undefined);
    if (!info) return {};
    // A user who can write this file can run programs as the owner.
    if (process.platform !== "win32" && (info.mode & 0o022) !== 0) {
      throw new TandemError("trust_unreadable", `${file} is writable by other users, so it is ignored.`, {
        fix: `Check its content and run chmod 600 ${file}.`,
      });
    }
    try {
      return this.#schema.parse(JSON.parse(await readFile(file, "utf8"))).folders;
    } catch (cause) {
      throw new TandemError("trust_unreadable", `${file} cannot be read as a list of trusted folders.`, {
        fix: "Remove it, and trust your folders again with `tandem trust`.",
        cause,
      });
    }
  }

  async write(env: Variables, folders: Record<string, z.output<Entry>>): Promise<void> {
    await ensureTandemHome(env);
    const text = `${JSON.stringify({ version: 1, folders }, null, 2)}\n`;
    await writeFileAtomically(join(trustHome(env), this.#name), text, 0o600);
  }

  /** Returns false if the folder was not listed. */
  async remove(env: Variables, folder: string): Promise<boolean> {
    const { [folder]: removed, ...others } = await this.read(env);
    if (removed !== undefined) await this.write(env, others);
    return removed !== undefined;
  }
}
