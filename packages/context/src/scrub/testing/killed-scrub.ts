import { existsSync } from "node:fs";
import { join } from "node:path";
import { openContextFolder } from "../../folder/open-context-folder.ts";
import { scrubContext } from "../scrub-context.ts";

// Scrubs a context's history and kills itself with SIGKILL: `commit` after the files were committed, `journal` when the new
// history is written and no branch has moved, `never` not at all.
const [, , path = "", point = ""] = process.argv;
const killAt = (here: string) => {
  if (here === point) process.kill(process.pid, "SIGKILL");
};
const folder = await openContextFolder({ path, git: "own" });
const records = {
  get: async () => undefined,
  getMany: async () => [],
  list: async () => {
    if (existsSync(join(path, ".git/tandem-rewrite.json"))) killAt("journal");
    return [];
  },
  write: async () => {},
};
await scrubContext({
  context: { id: folder.id, folder, search: { sync: async () => killAt("commit") } },
  store: {
    records,
    search: { eraseDeleted: async () => {} },
    jobs: { list: async () => ({ data: [], nextPage: null, hasMore: false }) as never },
  },
  samples: "values",
  isForAll: false,
  history: { git: "own", bundles: join(path, "..", "bundles"), force: false },
  apply: true,
});
