#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { become, currentMajor, findNode24, refuseOldNode, WANTED_MAJOR } from "./node24.mjs";

refuseOldNode();
if (currentMajor() >= WANTED_MAJOR) {
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
  await import("../src/main.ts");
} else {
  const self = fileURLToPath(import.meta.url);
  const node = findNode24(self);
  if (!node) {
    console.error(
      `Tandem runs on Node ${WANTED_MAJOR}, which its npm package "node" provides; it is not installed. Run npm install in the project and try again.`,
    );
    process.exit(1);
  }
  become(node, self, process.argv.slice(2));
}
