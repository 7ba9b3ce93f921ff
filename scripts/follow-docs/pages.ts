import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Every page of the repository. */
export const pages = globSync("**/*.md", { cwd: root, exclude: (name) => /^(node_modules|\..+)$/.test(name) });

/** Pages for users. Decisions and the changelog are records. */
export const guides = pages.filter((page) =>
  /^(README|SECURITY|CONTRIBUTING|docs\/(?!decisions|roadmap).*)\.md$/.test(page),
);

export const readPage = (page: string): string => readFileSync(join(root, page), "utf8");
