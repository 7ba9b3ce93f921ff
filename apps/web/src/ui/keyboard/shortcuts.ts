import { useEffect, useRef } from "react";
import { LiveValue } from "../../live/live-value.ts";
import { customKeys } from "./custom-keys.ts";

/** Keys (`mod+k`, `g h`, `j`), and what each does. */
export type Shortcuts = Readonly<Record<string, readonly [label: string, act: () => void]>>;

interface Group {
  title: string;
  keys: Shortcuts;
}

/** Those that work now, the innermost last: what the sheet shows and the keys do. */
export const groups = new LiveValue<readonly Group[]>([]);

/** The keys of the frame: those of a page go before them. */
export const EVERYWHERE = "Everywhere";

/** Within which a second key belongs to the first. */
export const SEQUENCE_MS = 900;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys that work for as long as the component is there. While somebody writes, only those with a modifier do. */
export function useShortcuts(title: string, keys: Shortcuts): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const live: Shortcuts = new Proxy(
      {},
      {
        get: (_, key: string) => current.current[key],
        ownKeys: () => Reflect.ownKeys(current.current),
        getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(current.current, key),
      },
    );
    const group = { title, keys: live };
    // What is inside is there before what is around it, when both come at once.
    groups.change((all) => (title === EVERYWHERE ? [group, ...all] : [...all, group]));
    return () => groups.change((all) => all.filter((other) => other !== group));
  }, [title]);
}

let pressed: string[] = [];
let timer: number | undefined;

addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  const key = nameOf(event);
  if (key === undefined) return;
  const hasModifier = event.metaKey || event.ctrlKey;
  if (!hasModifier && (isWriting(event.target) || isPressing(event) || isInDialog(event.target))) return;
  pressed = [...pressed, key].slice(-2);
  clearTimeout(timer);
  timer = window.setTimeout(() => (pressed = []), SEQUENCE_MS);
  // Two keys in a row mean what they mean everywhere, also where the second alone means something else.
  const found = find(pressed.join(" ")) ?? find(key);
  if (!found) return;
  event.preventDefault();
  pressed = [];
  found[1]();
});

/** The innermost that has it, by the keys that somebody has chosen. */
function find(name: string): Shortcuts[string] | undefined {
  const chosen = customKeys.current;
  for (const { keys } of groups.current.toReversed()) {
    const found = Object.entries(keys).find(([key, [label]]) => (chosen[label] ?? key) === name);
    if (found) return found[1];
  }
  return undefined;
}

/** By which key that is done here which by itself goes by this one. */
export function boundKey(key: string): string {
  const own = groups.current.findLast(({ keys }) => keys[key] !== undefined)?.keys[key];
  return (own && customKeys.current[own[0]]) ?? key;
}

export function nameOf(event: KeyboardEvent): string | undefined {
  if (["Shift", "Control", "Meta", "Alt"].includes(event.key)) return undefined;
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const parts = [
    ...(mod ? ["mod"] : []),
    ...(event.altKey ? ["alt"] : []),
    ...(event.shiftKey && (event.key.length > 1 || isLetter(event.key)) ? ["shift"] : []),
  ];
  return [...parts, event.key.toLowerCase()].join("+");
}

/** `?` is a key of its own, whatever has to be held for it; `A` is `a` with Shift. */
const isLetter = (key: string): boolean => key.toLowerCase() !== key.toUpperCase();

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** What lies under a dialog or a menu is out of reach, for keys as well. */
const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("[role=dialog], [role=menu]") !== null;

/** Enter and space belong to the button or link that has the focus. */
const isPressing = ({ key, target }: KeyboardEvent): boolean =>
  (key === "Enter" || key === " ") && target instanceof Element && target.closest("a, button, summary, label") !== null;

/** One entry for each thing that can be done: some go by two keys, or by one that somebody has chosen. */
export function deeds(keys: Shortcuts): { label: string; keys: string[]; act: () => void }[] {
  const all = Object.entries(keys).map(([key, [label, act]]) => ({ key, label, act }));
  return [...Map.groupBy(all, ({ label }) => label)].map(([label, same]) => {
    const chosen = customKeys.current[label];
    return { label, keys: chosen === undefined ? same.map(({ key }) => key) : [chosen], act: same[0]!.act };
  });
}

const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" } as const;

/** As it stands on the keyboard of who reads it. */
export const shownKey = (keys: string): string =>
  keys
    .split(" ")
    .map((key) =>
      key
        .replace("mod+", isMac ? "⌘" : "Ctrl+")
        .replace("shift+", "⇧")
        .replace("alt+", isMac ? "⌥" : "Alt+"),
    )
    .map((key) => key.replace(/(?<=^|\+|⌘)enter$/, "↵"))
    .map((key) => key.replace(/arrow(up|down|left|right)$/, (_, way: keyof typeof ARROWS) => ARROWS[way]))
    .map((key) => key.replace(/(?<=^|⇧|\+|⌘|⌥)[a-z]$/, (letter) => letter.toUpperCase()))
    .join(" ");
