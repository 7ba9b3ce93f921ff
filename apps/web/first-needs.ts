import type { Plugin } from "vite";

/** The lazy module of each route. */
const ROUTES: readonly { path: string; module: string }[] = [
  { path: "^/$", module: "src/home/home-page.tsx" },
  { path: "^/sessions/(\\w+)$", module: "src/session/session-page.tsx" },
  { path: "^/inbox$", module: "src/inbox/inbox-page.tsx" },
  { path: "^/compare$", module: "src/changes/compare/compare-page.tsx" },
  { path: "^/cassettes$", module: "src/cassettes/report-page.tsx" },
  { path: "^/context(/|$)", module: "src/context/context-page.tsx" },
  { path: "^/settings(/|$)", module: "src/settings/settings-page.tsx" },
];

/**
 * Writes `first-needs.json`. The server turns it into preload links in the page's head, so that the browser loads modules
 * in parallel instead of discovering them one after the other.
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
    const needs = ROUTES.map(({ path, module }) => {
      const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
      if (!chunk) this.error(`${module} is no module of its own any more.`);
      const modules = [...importsOf([chunk.fileName])].filter((file) => !entries.has(file)).map((file) => `/${file}`);
      return { path, modules };
    });
    this.emitFile({ type: "asset", fileName: "first-needs.json", source: JSON.stringify(needs) });
  },
});
