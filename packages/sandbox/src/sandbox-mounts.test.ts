import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkDestinations } from "./check-destinations.ts";
import type { Mount } from "./sandbox-plan.ts";
import { sandboxMounts, type SessionPlace } from "./sandbox-mounts.ts";

let base: string;
let home: string;
let place: SessionPlace;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-mounts-")));
  home = join(base, "home");
  place = { folder: make("home/project"), home, tandemHome: make("home/.tandem"), path: "/usr/bin:/bin" };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const make = (path: string): string => {
  mkdirSync(join(base, path), { recursive: true });
  return join(base, path);
};
const makeFile = (path: string, text = ""): string => {
  make(dirname(path));
  writeFileSync(join(base, path), text);
  return join(base, path);
};
const at = (mount: Mount): string => ("from" in mount ? (mount.at ?? mount.from) : mount.at);
const ours = (mounts: readonly Mount[]): string[] => mounts.map(at).filter((path) => path.startsWith(base));

describe("a session sees", () => {
  test("its folder, and nothing else of the home", () => {
    make("home/.ssh");
    make("home/.config/gh");
    expect(ours(sandboxMounts(place))).toEqual([place.folder]);
    expect(sandboxMounts(place)).toContainEqual({ from: place.folder, access: "write" });
  });

  test("toolchains read-only, without the credentials beside them", () => {
    const paths = [
      make("home/.cargo/bin"),
      make("home/.nvm"),
      make("home/.local/bin"),
      make("home/tools/bin"),
      make("prefix/bin"),
    ];
    const library = make("prefix/lib");
    const npmrc = makeFile("home/.nvm/versions/node/v24/etc/npmrc", "token");
    makeFile("home/.cargo/credentials.toml", "token");
    const mounts = sandboxMounts({ ...place, path: `${paths[3]}:${paths[4]}/:/usr/bin:relative` });
    expect(ours(mounts).toSorted()).toEqual([...paths, library, npmrc, place.folder].toSorted());
    expect(mounts).toContainEqual({ text: "", at: npmrc });
    expect(mounts).toContainEqual({ from: paths[0], at: paths[0], access: "read", optional: true });
  });

  test("not the home or Tandem's folder, even if PATH names them", () => {
    const bin = make("home/.tandem/bin");
    expect(ours(sandboxMounts({ ...place, path: `${home}:${place.tandemHome}:${bin}:${base}` }))).toEqual([
      place.folder,
    ]);
  });

  test("the user's name for commits, and no other git setting", () => {
    const identity = { name: 'A "B"\n[core]', email: "a@example.com" };
    expect(sandboxMounts({ ...place, identity })).toContainEqual({
      at: "/etc/gitconfig",
      text: '[user]\n\tname = "A \\"B\\" [core]"\n\temail = "a@example.com"\n[gc]\n\tauto = 0\n',
    });
  });

  test("no private keys of the system", () => {
    const paths = sandboxMounts(place).map(at);
    expect(paths).not.toContain("/etc/ssl");
    expect(paths.filter((path) => /private|shadow|resolv|sudoers/.test(path))).toEqual([]);
  });
});

describe("a mount that would show too much is refused", () => {
  const refusal = (change: Partial<SessionPlace>): unknown => {
    try {
      sandboxMounts({ ...place, ...change });
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test.each<[string, () => Partial<SessionPlace>]>([
    ["the home as the folder", () => ({ folder: home })],
    ["a folder above the home", () => ({ folder: base })],
    ["a folder with Tandem's folder in it", () => ({ folder: make("data"), tandemHome: make("data/tandem") })],
    ["a configured mount of the home", () => ({ extra: [{ from: home, access: "read" }] })],
    ["a configured mount of /", () => ({ extra: [{ from: "/", access: "read" }] })],
    ["a configured mount in Tandem's folder", () => ({ extra: [{ from: make("home/.tandem/x"), access: "read" }] })],
    [
      "a configured link to the home",
      () => (symlinkSync(home, join(base, "link")), { extra: [{ from: join(base, "link"), access: "read" }] }),
    ],
  ])("%s", (_, change) => {
    expect(refusal(change())).toMatchObject({
      code: "sandbox_mount_refused",
      fix: expect.stringContaining("folder below"),
    });
  });

  test("a folder that became a link", () => {
    symlinkSync(make("home/.ssh"), join(home, "linked"));
    expect(refusal({ folder: join(home, "linked") })).toMatchObject({ code: "sandbox_link" });
  });

  test("but not a scratch folder in Tandem's folder", () => {
    expect(refusal({ folder: make("home/.tandem/folders/a") })).toBeUndefined();
  });
});

describe("mount points", () => {
  test("are refused below a link that a program made", () => {
    const inside = { from: make("private"), at: home };
    symlinkSync("/oldroot/etc", join(inside.from, ".cargo"));
    const mount: Mount = { from: make("home/.cargo/bin"), access: "read" };
    expect(() => checkDestinations(inside, [mount])).toThrow(expect.objectContaining({ code: "sandbox_link" }));
    rmSync(join(inside.from, ".cargo"));
    expect(() => checkDestinations(inside, [mount])).not.toThrow();
  });
});
