import { TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, realpath, writeFile, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const SETTINGS = `# The project of tandem demo context: Harbour Bikes, a shop that does not exist.
connections:
  shop: { driver: sqlite, path: data/shop.sqlite }
ingest:
  sources:
    docs: { path: docs }
`;

/** The backend of the demo: a scripted model on this machine that stops with the demo. */
const rehearsed = (url: string): string => `llm:
  provider: { backend: anthropic, anthropic: { baseUrl: "${url}" } }
`;

interface DemoProject {
  folder: string;
  /** The demo's TANDEM_HOME, so that the user's own is not touched. */
  home: string;
  /** Sets or removes the backend. */
  answerFrom(url: string | undefined): Promise<void>;
  /** Adds questions with known answers to the context, which must exist. */
  addEvals(): Promise<void>;
}

/**
 * Creates a folder with a database, documents and a `tandem.yaml`: the named one, which must be new or empty, or a temporary
 * one.
 */
export async function makeProject(cwd: string, named: string | undefined): Promise<DemoProject> {
  const folder =
    named === undefined ? await realpath(await mkdtemp(join(tmpdir(), "tandem-demo-"))) : resolve(cwd, named);
  await mkdir(folder, { recursive: true }).catch(refuse(folder));
  if ((await readdir(folder)).length > 0) {
    throw new TandemError("usage", `${folder} is not empty.`, { fix: "Name a new folder, or none." });
  }
  // Beside the folder: a server refuses sessions in a folder that contains its tokens.
  const home = `${folder}.tandem`;
  if (existsSync(home)) {
    throw new TandemError("usage", `${home} belongs to an earlier demo.`, { fix: `Remove it, or name a new folder.` });
  }
  await mkdir(join(folder, "data"));
  await createShop(join(folder, "data/shop.sqlite"));
  await cp(new URL("documents", import.meta.url), join(folder, "docs"), { recursive: true });
  const answerFrom = (url: string | undefined) =>
    writeFile(join(folder, "tandem.yaml"), `${SETTINGS}${url === undefined ? "" : rehearsed(url)}`);
  await answerFrom(undefined);
  const addEvals = () => cp(new URL("evals", import.meta.url), join(folder, "context", "evals"), { recursive: true });
  return { folder, home, answerFrom, addEvals };
}

const refuse = (folder: string) => (cause: unknown) => {
  throw new TandemError("usage", `${folder} cannot be made: ${(cause as Error).message}.`, {
    fix: "Name another folder.",
    cause,
  });
};

async function createShop(file: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file);
  try {
    database.exec(await readFile(new URL("shop.sql", import.meta.url), "utf8"));
  } finally {
    database.close();
  }
}
