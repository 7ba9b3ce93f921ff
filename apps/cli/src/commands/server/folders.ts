import { addFolder, findServer, readAddedFolders, removeFolder } from "@tandem/tandem/server";
import { TandemError } from "@tandem/protocol";
import type { Command } from "commander";
import { resolve } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { styleFor, write, writeResult } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const subcommand = subcommandsOf(command);
  examples(
    subcommand("list", "List the folders that the server's sessions may work in.")
      .addOption(json())
      .action(runner(list)),
    "tandem folders list",
  );
  examples(
    subcommand("add", "Let the server's sessions work in a folder and below; takes effect at once.")
      .argument("[folder]", "the folder (default: this one)")
      .action(
        runner((invocation, folder: string | undefined) => add(invocation, resolve(invocation.cwd, folder ?? "."))),
      ),
    "tandem folders add",
    "tandem folders add ~/my-project",
  );
  examples(
    subcommand("remove", "Remove an added folder. New sessions cannot use it.")
      .argument("[folder]", "the folder (default: this one)")
      .action(
        runner((invocation, folder: string | undefined) => remove(invocation, resolve(invocation.cwd, folder ?? "."))),
      ),
    "tandem folders remove ~/old-project",
  );
}

async function add({ env, stdout }: Invocation, folder: string): Promise<void> {
  await write(stdout, `The server's sessions may work in ${await addFolder(env, folder)}.\n`);
}

async function list(invocation: Invocation): Promise<void> {
  const { env, stdout } = invocation;
  const [server, added] = await Promise.all([findServer(env), readAddedFolders(env)]);
  const folders = [
    ...(server?.roots ?? []).map((path) => ({ path, added: false })),
    ...added.map((path) => ({ path, added: true })),
  ];
  const { dim } = styleFor(stdout);
  const none = dim("No server is running, and no folders were added. Add this one: tandem folders add");
  const lines = folders.map(({ path, added: isAdded }) => (isAdded ? `${path}  ${dim("added")}` : path));
  await writeResult(invocation, { folders }, lines.length > 0 ? lines : [none]);
}

async function remove({ env, stdout }: Invocation, folder: string): Promise<void> {
  if (!(await removeFolder(env, folder))) {
    throw new TandemError("not_found", `${folder} was not added to the server.`, {
      fix: "List the added folders with `tandem folders`. Others come from sessions.roots in the server's tandem.yaml.",
    });
  }
  await write(stdout, `New sessions cannot work in ${folder}.\n`);
}
