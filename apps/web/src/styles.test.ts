import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("styles.css", import.meta.url), "utf8");

type Theme = Readonly<Record<string, string>>;

/** Each colour is defined once, as `light-dark(light, dark)`. */
const colours = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
const themes: Readonly<Record<string, Theme>> = {
  light: Object.fromEntries(colours.map(([, name, light]) => [name!, light!])),
  dark: Object.fromEntries(colours.map(([, name, , dark]) => [name!, dark!])),
};

/** The WCAG 2 formula. */
function contrast(one: string, other: string): number {
  const [light, dark] = [one, other].map(luminance).sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Like `color-mix(in srgb, colour share, ground)`, which marks edits within a changed line. */
const mixed = (colour: string, ground: string, share: number): string =>
  `#${[1, 3, 5]
    .map((at) => [colour, ground].map((each) => Number.parseInt(each.slice(at, at + 2), 16)) as [number, number])
    .map(([over, under]) =>
      Math.round(over * share + under * (1 - share))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;

const GROUNDS = ["ground", "surface", "raised"];
const WORDS = ["ink", "ink-soft", "ink-faint", "accent", "wait", "good", "bad"];
const PAIRS: readonly (readonly [words: string, ground: string])[] = [
  ...GROUNDS.flatMap((ground) => WORDS.map((words) => [words, ground] as const)),
  ...["accent", "wait", "good", "bad"].flatMap((name) => [
    [name, `${name}-soft`] as const,
    ["ink", `${name}-soft`] as const,
  ]),
  // Diffs use syntax colours.
  ...["ink", "ink-soft", "accent", "wait", "good", "bad"].flatMap((words) => [
    [words, "added"] as const,
    [words, "removed"] as const,
  ]),
  ["ink-soft", "wait-soft"],
  ["ink-faint", "accent-soft"],
  ["on-accent", "accent"],
];
const READABLE = 4.5;
const VISIBLE = 3;

test.each(Object.entries(themes))("text has enough contrast on every background: %s", (_, theme) => {
  const edited = { "an edit that adds": ["good", "added"], "an edit that takes away": ["bad", "removed"] } as const;
  const grounds: Theme = {
    ...theme,
    ...Object.fromEntries(
      Object.entries(edited).map(([name, [colour, ground]]) => [name, mixed(theme[colour]!, theme[ground]!, 0.24)]),
    ),
  };
  const pairs = [...PAIRS, ...Object.keys(edited).map((name) => ["ink", name] as const)];
  const tooFaint = pairs
    .map(([words, ground]) => ({ words, ground, contrast: contrast(grounds[words]!, grounds[ground]!) }))
    .filter((pair) => !(pair.contrast >= READABLE));
  expect(tooFaint).toEqual([]);
});

test.each(Object.entries(themes))("inputs and pending states are visible on every background: %s", (_, theme) => {
  const tooFaint = GROUNDS.flatMap((ground) =>
    ["edge", "wait-mark"].map((mark) => ({ mark, ground, contrast: contrast(theme[mark]!, theme[ground]!) })),
  ).filter((pair) => !(pair.contrast >= VISIBLE));
  expect(tooFaint).toEqual([]);
});

test("every colour is defined in both themes", () => {
  const named = [...css.matchAll(/--color-[\w-]+: var\(--([\w-]+)\);/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(15);
  expect(Object.keys(themes["dark"]!).toSorted()).toEqual(named.toSorted());
});

test("implements the WCAG contrast formula", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});
