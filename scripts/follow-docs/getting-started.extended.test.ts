import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { always, madeUpLogin, startRehearsal, text, toolUse, when, type Script } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { DocsReader } from "./docs-reader.ts";
import { commandsOf, matches, withOutputs } from "./transcript.ts";

// The page must show what its reader sees. `-u` writes the outputs of this run into the page.
const clone = join(import.meta.dirname, "..", "..");
const file = join(clone, "docs", "getting-started.md");
const RIVERS = "Rhine\nDanube\nElbe\n";

/** The model behind the made-up login of the second half. */
const model: Script = [
  always(when(({ toolResults }) => toolResults.length > 0, text("I wrote rivers.txt with three rivers."))),
  always(
    when(
      ({ toolNames, lastUserText }) => toolNames.includes("Write") && lastUserText.includes("into a file"),
      toolUse("Write", { file_path: "rivers.txt", content: RIVERS }),
    ),
  ),
  always(text("Rhine, Danube, Elbe.")),
];

test("a reader who types the commands of docs/getting-started.md sees what it shows", async () => {
  await using rehearsal = await startRehearsal(model, { proxy: true });
  await using machine = await scratchMachine();
  const { HTTPS_PROXY: _, TANDEM_HOME: __, ...variables } = machine.variables;
  await using reader = new DocsReader(clone, { ...variables, ...rehearsal.proxy.variables });

  const page = readFileSync(file, "utf8");
  const commands = commandsOf(page);
  const outputs: string[][] = [];
  for (const { command, output } of commands) {
    // The page says to log in before this.
    if (command.includes("~/rivers")) await madeUpLogin(variables.CLAUDE_CONFIG_DIR);
    const shown = await reader.type(command);
    outputs.push(matches(output, shown) ? output : shown);
  }
  expect(commands.length).toBeGreaterThan(10);
  expect(readFileSync(join(variables.HOME, "rivers", "rivers.txt"), "utf8")).toBe(RIVERS);
  const demo = join(variables.HOME, ".tandem-demo");
  expect(globSync("harbour-bikes/hello.txt", { cwd: demo }), "rewound").toEqual([]);
  const [ofSdk = ""] = globSync("state/scratch/*/hello.txt", { cwd: demo });
  expect(readFileSync(join(demo, ofSdk), "utf8")).toBe("hello\n");
  await expect(withOutputs(page, outputs)).toMatchFileSnapshot(file);
});
