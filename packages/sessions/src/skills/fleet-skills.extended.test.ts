import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { setEngineStage, typesOf } from "../testing/engine-stage.ts";

const files = (words: string) =>
  Object.entries({ "SKILL.md": "---\nname: heron\ndescription: Greets herons.\n---\nGreet.\n", "words.md": words }).map(
    ([path, content]) => ({ filename: `heron/${path}`, content: Buffer.from(content) }),
  );

const why = whyNoPostgres();
describe.skipIf(why)(`skills on Postgres${why ? ` (${why})` : ""}`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  test("a skill that one worker stored is loaded by another, and concurrent uploads end in one order", async () => {
    const stage = await setEngineStage();
    onTestFinished(() => stage[Symbol.asyncDispose]());
    const location = await postgres.createDatabase();
    const [one, two] = await Promise.all(
      ["one", "two"].map((name) => stage.open({ location, holder: name, stateFolder: join(stage.root, name) })),
    );
    const { id } = await one!.engine.skills.create({ files: files("First."), by: "ada" });
    const added = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        [one!, two!][index % 2]!.engine.skills.createVersion(id, { files: files(`Words ${index}.`), by: "ada" }),
      ),
    );
    const newest = added
      .map((version) => version.id)
      .toSorted()
      .at(-1)!;
    expect((await two!.engine.skills.get(id)).latest_version_id).toBe(newest);
    expect((await one!.engine.skills.versions(id, { limit: 99 })).data).toHaveLength(7);
    const index = added.findIndex((version) => version.id === newest);

    stage.rehearsal.use((request) => {
      const body = JSON.stringify(request.body);
      const [, base] = /Base directory for this skill: ([^\s\\"]+)/.exec(body) ?? [];
      if (base === undefined) return toolUse("Skill", { skill: "heron" });
      return body.includes(`Words ${index}.`) ? text("done") : toolUse("Read", { file_path: join(base, "words.md") });
    });
    const session = await two!.session(
      {},
      { tools: [{ type: "agent_toolset_20260401" }], skills: [{ type: "custom", skill_id: id }] },
    );
    expect(typesOf(await two!.turn(session, "Go."))).not.toContain("session.error");
    await one!.engine.skills.delete(id, "ada");
    await expect(two!.engine.skills.get(id)).rejects.toThrow("There is no skill");
  });
});
