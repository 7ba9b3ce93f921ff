import { join } from "node:path";
import { build } from "vite";

/** Builds the page without virtual scrolling. The product knows nothing of it: one module is put in another's place. */
export async function buildPlainPage(outDir: string): Promise<void> {
  const root = join(import.meta.dirname, "..", "..", "apps", "web");
  const plain = join(import.meta.dirname, "plain-list.js");
  await build({
    root,
    logLevel: "warn",
    resolve: { alias: { "@tanstack/react-virtual": plain } },
    build: { outDir, emptyOutDir: true },
  });
}
