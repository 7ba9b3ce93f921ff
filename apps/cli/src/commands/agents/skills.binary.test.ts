import { always, text } from "@tandem/rehearsal";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const MAIN = "---\nname: heron\ndescription: Greets herons.\n---\nGreet the heron.\n";

describe.each(["without a server", "with a server"])("tandem skills, %s", (place) => {
  test("add, show, versions, download, remove", async () => {
    await using machine = await sessionMachine([always(text("Hello."))]);
    await using _ = place === "with a server" ? await machine.up() : undefined;
    const folder = machine.folder.join("project", "heron");
    await mkdir(join(folder, "words"), { recursive: true });
    await mkdir(join(folder, ".git"));
    await writeFile(join(folder, ".git", "config"), "secret");
    await writeFile(join(folder, "SKILL.md"), MAIN);
    await writeFile(join(folder, "words", "hello.md"), "Good morning.");

    expect((await machine.run(["skills"])).stdout).toContain("No skills yet");
    const added = await machine.run(["skills", "add", "heron", "--name", "Herons", "--json"]);
    expect(added).toMatchObject({ code: 0 });
    const { id } = JSON.parse(added.stdout) as { id: string };
    await machine.run(["skills", "add", "heron", "--to", "Herons"]);
    const agent = `name: greeter\nmodel: sonnet\ntools: [{ type: agent_toolset_20260401 }]\nskills: [{ type: custom, skill_id: ${id} }]\n`;
    await writeFile(machine.folder.join("project", "agent.yaml"), agent);
    expect(await machine.run(["agents", "add", "--file", "agent.yaml"])).toMatchObject({
      stderr: "",
      stdout: expect.stringContaining(`${id}  latest`),
    });

    const shown = await machine.run(["skills", "show", "Herons"]);
    expect(shown.stdout).toMatch(/2 files, 1 kB/);
    expect(shown.stdout).toMatch(/agents +greeter/);
    expect(shown.stdout).toContain("Greets herons.");
    expect((await machine.run(["skills", "list"])).stdout).toContain(`${id}  Herons  uploaded`);
    const listed = JSON.parse((await machine.run(["skills", "versions", "Herons", "--json"])).stdout) as {
      versions: { id: string }[];
    };
    expect(listed.versions).toHaveLength(2);

    expect((await machine.run(["skills", "download", "Herons"])).code).toBe(0);
    const zip = await readFile(machine.folder.join("project", "heron.zip"));
    expect(zip.subarray(0, 2).toString()).toBe("PK");
    expect(zip.includes("secret"), "git's files are left out").toBe(false);
    expect((await machine.run(["skills", "download", "Herons"])).code, "no file is overwritten").not.toBe(0);

    expect(await machine.run(["skills", "remove", "Herons"])).toMatchObject({ code: 2 });
    const version = listed.versions[0]!.id;
    await machine.run(["skills", "remove", "Herons", "--skill-version", version, "--yes"]);
    expect((await machine.run(["skills", "versions", "Herons"])).stdout).not.toContain(version);
    expect((await machine.run(["skills", "remove", "Herons", "--yes"])).stdout).toBe(`${id} is deleted.\n`);
    expect((await machine.run(["skills", "show", "Herons"])).stderr).toContain("There is no skill Herons");

    const audit = JSON.parse((await machine.run(["audit", "list", "--json"])).stdout) as {
      entries: { kind: string }[];
    };
    const kinds = audit.entries.map(({ kind }) => kind).filter((kind) => kind.startsWith("skill."));
    expect(kinds.toSorted()).toEqual(
      ["skill.created", "skill.deleted", "skill.version_created", "skill.version_deleted"].toSorted(),
    );

    await symlink("/etc/passwd", join(folder, "link.md"));
    expect((await machine.run(["skills", "add", "heron"])).stderr).toContain("heron/link.md is a link");
    expect((await machine.run(["skills", "add", "nothing"])).stderr).toContain("There is no folder nothing");
  });
});
