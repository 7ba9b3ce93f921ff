import type { Plugin } from "vite";
import { FIRST_PAGE } from "./src/live/first-page.ts";

/**
 * What the places of the page need before they can show anything: the module that is loaded when one comes there, and what
 * that asks the server for. `$1` is what the pattern caught.
 */
const PLACES: readonly { path: string; module: string; requests: readonly string[] }[] = [
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
 * Writes `first-needs.json` for the server, which puts it into the page's head: a browser that knows at once what it will
 * need loads that side by side, instead of one after the other as each is found in the one before.
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
    const needs = PLACES.map(({ path, module, requests }) => {
      const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
      if (!chunk) this.error(`${module} is no module of its own any more.`);
      const modules = [...importsOf([chunk.fileName])].filter((file) => !entries.has(file)).map((file) => `/${file}`);
      return { path, modules, requests };
    });
    this.emitFile({ type: "asset", fileName: "first-needs.json", source: JSON.stringify(needs) });
  },
});
