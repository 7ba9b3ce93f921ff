import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { readBundle, unpackBundle } from "./skill-bundle.ts";
import { packZip, unpackZip } from "./zip-archive.ts";

const MAIN = "---\nname: heron\ndescription: Greets herons.\n---\nGreet.\n";
const LIMITS = { maxBytes: 1_000_000, maxFiles: 10 };

const entry = (path: string, content: string | Buffer = "x") => ({ path, content: Buffer.from(content) });
const upload = (files: Record<string, string>) =>
  readBundle(Object.entries(files).map(([filename, content]) => ({ filename, content: Buffer.from(content) })));
const zipped = async (...files: ReturnType<typeof entry>[]) =>
  readBundle([{ filename: "skill.zip", content: await packZip(files) }]);

test("an archive has the same bytes for the same files, and unpacks to them", async () => {
  const files = [entry("heron/SKILL.md", MAIN), entry("heron/Ünï/🪿.md", "goose"), entry("heron/empty", "")];
  const archive = await packZip(files);
  expect(await packZip(files)).toEqual(archive);
  expect(await unpackZip(archive, LIMITS)).toEqual(files);
  const { files: inside } = await readBundle([{ filename: "any.zip", content: archive }]);
  expect(inside.map(({ path }) => path)).toEqual(["SKILL.md", "empty", "Ünï/🪿.md"]);
  expect(await unpackBundle(archive)).toHaveLength(3);
});

test("name and description come from the front matter, else the folder's name is used", async () => {
  expect(await upload({ "any/SKILL.md": MAIN })).toMatchObject({ name: "heron", description: "Greets herons." });
  expect(await upload({ "bird/SKILL.md": "---\ndescription: x\n---\n" })).toMatchObject({ name: "bird" });
});

test("files that macOS adds are left out", async () => {
  const { files } = await zipped(
    entry("heron/SKILL.md", MAIN),
    entry("heron/.DS_Store"),
    entry("__MACOSX/heron/._SKILL.md"),
  );
  expect(files.map(({ path }) => path)).toEqual(["SKILL.md"]);
});

test.each([
  ["heron/../../etc/passwd", /plain path/],
  ["heron/./x", /plain path/],
  ["heron//x", /plain path/],
  ["/heron/x", /absolute/],
  ["C:/heron/x", /absolute/],
  ["heron\\..\\x", /backslash/],
  ["heron/a\u0000b", /invisible/],
  ["heron/a\u202Eb", /invisible/],
  ["heron/a\nb", /invisible/],
  [`heron/${"x".repeat(256)}`, /255 bytes/],
  [`heron/${"ü/".repeat(200)}x`, /500 bytes/],
  ["heron/skill.MD", /one file on some systems/],
  ["heron/SKILL.md/x", /both a file and a folder/],
  ["heron/SKILL.md", /there twice/],
  ["other/x", /one folder/],
])("the path %j is refused, in a form and in an archive", async (path, why) => {
  const files = [entry("heron/SKILL.md", MAIN), entry(path)];
  const named = files.map((file) => ({ filename: file.path, content: file.content }));
  await expect(readBundle(named)).rejects.toThrow(why);
  await expect(zipped(...files)).rejects.toThrow(why);
});

test("names that differ only in their Unicode form are refused", async () => {
  const files = { "heron/SKILL.md": MAIN, "heron/\u00e9.md": "a", "heron/e\u0301.md": "b" };
  await expect(upload(files)).rejects.toThrow(/one file on some systems/);
});

test.each([
  ["name: -heron\ndescription: x", /lower case/],
  ["name: [a]\ndescription: x", /lower case/],
  ["name: 7\ndescription: x", /lower case/],
  [`name: ${"a".repeat(65)}\ndescription: x`, /at most 64/],
  ["name: my-claude\ndescription: x", /reserved/],
  ["name: heron\ndescription: 7", /missing/],
  ["name: heron\ndescription: ' '", /missing/],
  [`name: heron\ndescription: ${"a".repeat(1_025)}`, /1024/],
  ["name: heron\ndescription: use <tool/>", /XML/],
  ["a: &a [x]\nb: *a\nname: heron\ndescription: x", /YAML/],
  ["name: heron\ndescription: [", /YAML/],
])("the front matter %j is refused", async (head, why) => {
  await expect(upload({ "heron/SKILL.md": `---\n${head}\n---\n` })).rejects.toThrow(why);
});

test("too much is refused, even if the archive announces less", async () => {
  const bomb = await packZip([entry("heron/SKILL.md", MAIN), entry("heron/zeros", Buffer.alloc(40 * 1_048_576))]);
  expect(bomb.length).toBeLessThan(100_000);
  await expect(readBundle([{ filename: "x.zip", content: bomb }])).rejects.toThrow(/more than 30 MB/);
  // The announced size of the file says one byte.
  const lying = Buffer.from(bomb);
  const at = lying.lastIndexOf(Buffer.from("heron/zeros")) - 46 + 24;
  lying.writeUInt32LE(1, at);
  await expect(readBundle([{ filename: "x.zip", content: lying }])).rejects.toThrow(/more than 30 MB/);
  const many = Array.from({ length: 11 }, (_, index) => entry(`heron/${index}`));
  await expect(unpackZip(await packZip(many), LIMITS)).rejects.toThrow(/more than 10 files/);
});

/** An archive whose first entry was changed in the central directory. */
async function changed(offset: number, write: (bytes: Buffer, at: number) => void): Promise<Buffer> {
  const bytes = await packZip([entry("heron/SKILL.md", MAIN)]);
  const central = bytes.readUInt32LE(bytes.length - 6);
  write(bytes, central + offset);
  return bytes;
}

test("links, special files, encryption and other formats are refused", async () => {
  const type = (mode: number) => changed(38, (bytes, at) => bytes.writeUInt32LE(mode * 0x10000, at));
  await expect(unpackZip(await type(0o120_777), LIMITS)).rejects.toThrow(/link or a special file/);
  await expect(unpackZip(await type(0o020_666), LIMITS)).rejects.toThrow(/link or a special file/);
  const encrypted = await changed(8, (bytes, at) => bytes.writeUInt16LE(1, at));
  await expect(unpackZip(encrypted, LIMITS)).rejects.toThrow(/encrypted/);
  const lzma = await changed(10, (bytes, at) => bytes.writeUInt16LE(14, at));
  await expect(unpackZip(lzma, LIMITS)).rejects.toThrow(/unsupported/);
  const large = await changed(42, (bytes, at) => bytes.writeUInt32LE(0xffffffff, at));
  await expect(unpackZip(large, LIMITS)).rejects.toThrow(/zip64/);
  const checksum = await changed(16, (bytes, at) => bytes.writeUInt32LE(1, at));
  await expect(unpackZip(checksum, LIMITS)).rejects.toThrow(/damaged/);
});

test("damaged archives are refused, and none of them breaks the reader", async () => {
  const archive = await packZip([entry("heron/SKILL.md", MAIN), entry("heron/a", deflateRawSync("abc"))]);
  for (let length = 0; length < archive.length; length += 1) {
    await expect(unpackZip(archive.subarray(0, length), LIMITS)).rejects.toThrow(/cannot be used/);
  }
  for (let at = 0; at < archive.length; at += 1) {
    const bytes = Buffer.from(archive);
    bytes[at] = bytes[at]! ^ 0xff;
    const result = await unpackZip(bytes, LIMITS).catch((error: Error) => error.message);
    if (typeof result === "string") expect(result).toMatch(/cannot be used/);
  }
});
