import { useEffect, useRef } from "react";
import { StoredValue } from "../../live/stored-value.ts";
import { LiveValue } from "../../live/live-value.ts";

/** Actions by key: `mod+k`, `g h` (a sequence), `j`. */
export type Shortcuts = Readonly<Record<string, readonly [label: string, act: () => void]>>;

interface Group {
  title: string;
  keys: Shortcuts;
}

/** The active groups, innermost last. */
export const groups = new LiveValue<readonly Group[]>([]);

/** Custom keys by action label. Actions with the same label share a key on all pages. */
export const customKeys = new StoredValue<Readonly<Record<string, string>>>("tandem.keys", {});

export const setCustomKey = (label: string, key: string): void =>
  customKeys.change((all) => ({ ...all, [label]: key }));

export const resetCustomKey = (label: string): void =>
  customKeys.change((all) => Object.fromEntries(Object.entries(all).filter(([other]) => other !== label)));

/** Global shortcuts. Those of a page take precedence. */
export const EVERYWHERE = "Everywhere";

/** Time limit between the keys of a sequence. */
export const SEQUENCE_MS = 900;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Registers shortcuts while the component is mounted. In text fields only those with a modifier are active. */
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
    // Effects of children run first, so put the global group in front to keep it outermost.
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
  // A sequence takes precedence over a shortcut of its second key alone.
  const found = find(pressed.join(" ")) ?? find(key);
  if (!found) return;
  event.preventDefault();
  pressed = [];
  found[1]();
});

/** The innermost match, with custom keys applied. */
function find(name: string): Shortcuts[string] | undefined {
  const chosen = customKeys.current;
  for (const { keys } of groups.current.toReversed()) {
    const found = Object.entries(keys).find(([key, [label]]) => (chosen[label] ?? key) === name);
    if (found) return found[1];
  }
  return undefined;
}

/** The key that currently triggers the action whose default key this is. */
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

/** `?` is its own key, although it needs Shift on some layouts; `A` is `a` with Shift. */
const isLetter = (key: string): boolean => key.toLowerCase() !== key.toUpperCase();

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Content behind a dialog or a menu must not react to keys. */
const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("[role=dialog], [role=menu]") !== null;

/** Enter and space activate the focused button or link. */
const isPressing = ({ key, target }: KeyboardEvent): boolean =>
  (key === "Enter" || key === " ") && target instanceof Element && target.closest("a, button, summary, label") !== null;

/** One entry per action. An action can have several keys, or one custom key. */
export function shortcutActions(keys: Shortcuts): { label: string; keys: string[]; act: () => void }[] {
  const all = Object.entries(keys).map(([key, [label, act]]) => ({ key, label, act }));
  return [...Map.groupBy(all, ({ label }) => label)].map(([label, same]) => {
    const chosen = customKeys.current[label];
    return { label, keys: chosen === undefined ? same.map(({ key }) => key) : [chosen], act: same[0]!.act };
  });
}

const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" } as const;

/** Formats a key for the user's platform. */
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
