// npm start: builds the page if it has changed, then runs the command.
import { buildPage } from "./build-page.ts";

try {
  buildPage();
} catch (error) {
  // The server works without the page.
  console.error(error instanceof Error ? error.message : String(error));
}
await import("../apps/cli/src/main.ts");
