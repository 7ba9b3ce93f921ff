// npm start: the page is built if it has changed, then the command runs.
import { buildPage } from "./build-page.ts";

try {
  buildPage();
} catch (error) {
  // The server is of use without it.
  console.error(error instanceof Error ? error.message : String(error));
}
await import("../apps/cli/src/main.ts");
