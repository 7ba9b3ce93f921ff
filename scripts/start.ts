// npm start: builds the page and the docs if they have changed, then runs the command.
import { buildPage } from "./build-page.ts";
import { buildDocsIfChanged } from "./docs-site/build-docs.ts";

try {
  buildPage();
  buildDocsIfChanged();
} catch (error) {
  // The server works without them.
  console.error(error instanceof Error ? error.message : String(error));
}
await import("../apps/cli/src/main.ts");
