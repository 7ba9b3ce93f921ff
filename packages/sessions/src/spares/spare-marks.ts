import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isId, type SessionId } from "@tandem/protocol";
import { isAlive } from "@tandem/workspace";

/** Distinguishes this process from an earlier one with the same pid, as in a container. */
const SELF = `${process.pid}.${Math.round(performance.timeOrigin)}`;

/** A file for each process that was started ahead, so that its folders can be removed if the server dies. */
export class SpareMarks {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, "spares");
  }

  async add(id: SessionId): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#folder, `${id}.${SELF}`), "", { mode: 0o600 });
  }

  async remove(id: SessionId): Promise<void> {
    for (const name of await this.#names()) {
      if (name.startsWith(`${id}.`)) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** Those of servers that have ended. */
  async left(): Promise<SessionId[]> {
    return (await this.#names()).flatMap((name) => {
      const [id = "", pid = ""] = name.split(".");
      const isOurs = name.endsWith(`.${SELF}`);
      const isDead = Number(pid) === process.pid ? !isOurs : !isAlive(Number(pid));
      return isId("session", id) && isDead ? [id] : [];
    });
  }

  #names(): Promise<string[]> {
    return readdir(this.#folder).catch(() => []);
  }
}
