import { openContextFolder } from "../open-context-folder.ts";

// Repeatedly commits two files with the same number, until it is killed.
const [path = "", kind] = process.argv.slice(2);
const folder = await openContextFolder({ path, git: kind === "project" ? "project" : "own" });
const paths = ["wiki/a.md", "wiki/b.md"];
const texts = await Promise.all(paths.map((file) => folder.read(file)));
for (let count = Number(texts[0] ?? 0) + 1; ; count += 1) {
  const changes = paths.map((file, i) => ({ path: file, expected: texts[i] ?? null, content: `${count}\n` }));
  await folder.commit(changes, { subject: `Count ${count}`, trailers: { "Tandem-Proposal": `prop_${count}` } });
  texts.fill(`${count}\n`);
  process.stdout.write(`${count}\n`);
}
