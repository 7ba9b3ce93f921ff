import { execFileSync, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const has = (shell: string) => spawnSync(shell, ["--version"], { stdio: "ignore" }).status === 0;
const run = (shell: string, ...args: string[]) => execFileSync(shell, args, { encoding: "utf8" });

describe("tandem completion", () => {
  test.runIf(has("bash"))("bash (needs bash)", async () => {
    await using machine = await scratchMachine();
    const file = machine.folder.join("completion.bash");
    await writeFile(file, (await machine.run(["completion", "bash"])).stdout);
    const complete = (...words: string[]) => {
      const script = `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _tandem; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return run("bash", "-c", script, "bash", "tandem", ...words)
        .trim()
        .split("\n");
    };
    expect(complete("sta")).toEqual(["status"]);
    expect(complete("config", "")).toEqual(expect.arrayContaining(["get", "set", "schema"]));
    expect(complete("config", "set", "llm.models.d")).toEqual(["llm.models.default"]);
    expect(complete("text", "--role", "cur")).toEqual(["curator"]);
    expect(complete("setup", "--backend", "v")).toEqual(["vertex"]);
    expect(complete("text", "--pro")).toEqual(["--project"]);
    expect(complete("sessions", "ex")).toEqual(["export"]);
    expect(complete("run", "--output-format", "s")).toEqual(["stream-json"]);
    expect(complete("up", "--demo", "i")).toEqual(["if-needed"]);
    expect(complete("agents", "add", "--file", file.slice(0, -5))).toEqual([file]);
    expect(complete("sessions", "import", file.slice(0, -5))).toEqual([file]);
  });

  test.runIf(has("zsh"))("zsh (needs zsh)", async () => {
    await using machine = await scratchMachine();
    const file = machine.folder.join("_tandem");
    await writeFile(file, (await machine.run(["completion", "zsh"])).stdout);
    expect(run("zsh", "-n", file)).toBe("");
  });

  test.runIf(has("fish"))("fish (needs fish)", async () => {
    await using machine = await scratchMachine();
    const file = machine.folder.join("tandem.fish");
    await writeFile(file, (await machine.run(["completion", "fish"])).stdout);
    const script = `source ${file}; complete -C 'tandem sta'`;
    expect(run("fish", "-c", script)).toContain("status");
  });
});
