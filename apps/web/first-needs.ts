import type { Plugin } from "vite";
import { FIRST_PAGE } from "./src/live/log-page.ts";

/** The lazy module and the first requests of each route. `$1` is the capture group of the path. */
const ROUTES: readonly { path: string; module: string; requests: readonly string[] }[] = [
  { path: "^/$", module: "src/home/home-page.tsx", requests: [] },
  {
    path: "^/sessions/(\\w+)$",
    module: "src/session/session-page.tsx",
    requests: [`/v1/sessions/$1/log?limit=${FIRST_PAGE}`, "/v1/sessions/$1"],
  },
  { path: "^/inbox$", module: "src/inbox/inbox-page.tsx", requests: [] },
  { path: "^/context(/|$)", module: "src/context/context-page.tsx", requests: [] },
  { path: "^/settings(/|$)", module: "src/settings/settings-page.tsx", requests: [] },
];

/**
 * Writes `first-needs.json`. The server turns it into preload links in the page's head, so that the browser loads modules
 * and data in parallel instead of discovering them one after the other.
 */
export const firstNeeds = (): Plugin => ({
  name: "first-needs",
  apply: "build",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
    const importsOf = (files: readonly string[]): Set<string> => {
      const all = new Set(files);
      for (const file of all) {
        for (const next of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) all.add(next);
      }
      return all;
    };
    const entries = importsOf(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
    const needs = ROUTES.map(({ path, module, requests }) => {
      const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
      if (!chunk) this.error(`${module} is no module of its own any more.`);
      const modules = [...importsOf([chunk.fileName])].filter((file) => !entries.has(file)).map((file) => `/${file}`);
      return { path, modules, requests };
    });
    this.emitFile({ type: "asset", fileName: "first-needs.json", source: JSON.stringify(needs) });
  },
});
